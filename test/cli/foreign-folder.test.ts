/** Commands that are run in a folder of somebody else's: a clone, an unpacked archive. */
import { execFileSync } from "node:child_process";
import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { once } from "node:events";
import { type AddressInfo, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type AdminUnderTest, OPERATOR_TOKEN, startAdmin } from "../admin/admin-fixture.ts";
import { callCli } from "./call-cli.ts";

const SECRET = "the-users-own-secret";
/** Of the user's shell. */
const ENVIRONMENT = { PRODUCTION_KEY: SECRET, IGW_OPERATOR_TOKEN: SECRET };

/** Whatever is sent to the folder's address. */
let listener: Server;
let received = "";
let port = 0;
beforeAll(async () => {
  listener = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.on("data", (data) => {
      received += data.toString("latin1");
      socket.end("HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    });
  });
  listener.listen(0, "0.0.0.0");
  await once(listener, "listening");
  ({ port } = listener.address() as AddressInfo);
});
afterAll(() => listener.close());

/** The folder of somebody else, and beside it what is the user's. */
let home = "";
let folder = "";
beforeEach(() => {
  received = "";
  home = mkdtempSync(join(tmpdir(), "igw-foreign-"));
  folder = join(home, "clone");
  write(join(home, "secret"), `${SECRET}\n`);
  write(join(home, "production", "operator-token"), `${SECRET}\n`);
  mkdirSync(folder);
});
afterEach(() => rmSync(home, { recursive: true }));

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

interface Parts {
  readonly admin?: string;
  readonly more?: string;
}

const config = ({
  admin = `{host: 127.0.0.1, port: ${port}}`,
  more = "",
}: Parts = {}): string => `admin: ${admin}
upstreams: [{name: local, url: "http://127.0.0.1:9", credential: {env: PRODUCTION_KEY}}]
catalog:
  - {id: a/b, upstream: local, context_window: 9, max_output_tokens: 9, prices: {USD: {input: "1", output: "1"}}}
${more}
`;
const writeConfig = (parts?: Parts): void => write(join(folder, "gateway.yaml"), config(parts));
const tokenFile = (): string => join(folder, "data", "operator-token");
const igw = (args: string, env: Record<string, string> = {}) =>
  callCli(args.split(" "), { cwd: folder, env: { ...ENVIRONMENT, ...env } });

describe("org list in somebody else's folder", () => {
  it.each([
    {
      name: "a variable of the user's",
      make: () => writeConfig({ admin: `{port: ${port}, operator_token: {env: PRODUCTION_KEY}}` }),
    },
    {
      name: "a file of the user's",
      make: () => writeConfig({ admin: `{port: ${port}, operator_token: {file: ../secret}}` }),
    },
    {
      name: "a file of the user's under a token's name",
      make: () => {
        writeConfig();
        mkdirSync(join(folder, "data"));
        symlinkSync(join(home, "secret"), tokenFile());
      },
    },
    {
      name: "a file of the user's under a second name",
      make: () => {
        writeConfig();
        mkdirSync(join(folder, "data"));
        linkSync(join(home, "secret"), tokenFile());
      },
    },
    {
      name: "the token of another gateway of the user's, by a link",
      make: () => {
        writeConfig();
        symlinkSync(join(home, "production"), join(folder, "data"));
      },
    },
    {
      name: "the token of another gateway of the user's, by a path",
      make: () => writeConfig({ more: "data_dir: ../production" }),
    },
    {
      name: "anything to a name, whoever answers for it",
      make: () => {
        writeConfig({ admin: `{host: localhost, port: ${port}}` });
        write(tokenFile(), "theirs\n");
      },
    },
    {
      name: "anything to an address that a running gateway is said to have",
      make: () => {
        writeConfig({ admin: "{port: 0}" });
        write(tokenFile(), "theirs\n");
        const running = { configFile: join(folder, "gateway.yaml"), adminUrl: `http://localhost:${port}` };
        write(join(folder, "data", "running.json"), JSON.stringify(running));
      },
    },
    {
      name: "the user's token by a configuration that a running gateway is said to have",
      make: () => {
        write(join(home, "production", "gateway.yaml"), config({ more: "data_dir: ." }));
        const running = { configFile: join(home, "production", "gateway.yaml") };
        write(join(folder, "data", "running.json"), JSON.stringify(running));
      },
    },
    {
      name: "what a pipe gives, for which it would wait",
      make: () => {
        writeConfig();
        mkdirSync(join(folder, "data"));
        execFileSync("sh", ["-c", `mkfifo '${tokenFile()}'`]);
      },
    },
  ])("does not send $name, and says how to go on", async ({ make }) => {
    make();
    const { code, stdout, stderr } = await igw("org list");
    expect([code, stdout, received]).toEqual([1, "", ""]);
    expect(stderr).toContain("was found in this directory, but");
    expect(stderr).toContain("--config");
    expect(stderr).not.toContain(SECRET);
  });

  it.each([
    { name: "in a variable", env: { IGW_ADMIN_TOKEN: SECRET }, args: "org list" },
    { name: "in the file of a variable", env: { IGW_ADMIN_TOKEN_FILE: "../secret" }, args: "org list" },
    { name: "on the command line", env: {}, args: `org list --token ${SECRET}` },
  ])("does not send a token $name to the folder's address", async ({ env, args }) => {
    writeConfig();
    write(tokenFile(), "theirs\n");
    // Where it goes without an address is said: 127.0.0.1:10001.
    await igw(args, env);
    expect(received).toBe("");
  });

  it("sends a token in a variable nowhere that a named configuration says", async () => {
    writeConfig();
    write(tokenFile(), "theirs\n");
    const env = { IGW_ADMIN_TOKEN: SECRET, IGW_ADMIN_URL: "http://127.0.0.1:9" };
    await igw("org list --config gateway.yaml", env);
    expect(received).toContain("Bearer theirs");
    expect(received).not.toContain(SECRET);
  });

  it("sends the folder's own token to this machine", async () => {
    writeConfig();
    write(tokenFile(), "theirs\n");
    await igw("org list");
    expect(received).toContain("Bearer theirs");
  });
});

describe("doctor in somebody else's folder", () => {
  it("sends no upstream a credential until the file is named", async () => {
    write(join(folder, "gateway.yaml"), config().replace("127.0.0.1:9", `127.0.0.1:${port}`));
    await igw("doctor");
    expect(received).not.toContain(SECRET);
    await igw("doctor --config gateway.yaml");
    expect(received).toContain(SECRET);
  });

  it.each([
    {
      name: "a variable as Redis's password",
      more: () => `redis: {url: "redis://127.0.0.1:${port}", password: {env: PRODUCTION_KEY}}`,
    },
    {
      name: "a file as the mail server's password",
      more: () =>
        `notifications: {smtp: {url: "smtp://127.0.0.1:${port}", from: a@example.com, username: a, password: {file: ../secret}}}`,
    },
    {
      name: "a variable as the metrics' token",
      more: () => "telemetry: {metrics_token: {env: PRODUCTION_KEY}}",
    },
    { name: "the token of another gateway of the user's", more: () => "data_dir: ../production" },
  ])("does not send $name", async ({ more }) => {
    writeConfig({ more: more() });
    const { code, stderr } = await igw("doctor");
    expect([code, received]).toEqual([1, ""]);
    expect(stderr).toContain("was found in this directory, but");
  });

  it("looks at a configuration without secrets, and one that is named whatever it has", async () => {
    const redis = `redis: {url: "redis://127.0.0.1:${port}"`;
    writeConfig({ more: `${redis}}` });
    expect((await igw("doctor")).stdout).toContain("redis");
    writeConfig({ more: `${redis}, password: {env: PRODUCTION_KEY}}` });
    expect((await igw("doctor --config gateway.yaml")).stdout).toContain("redis");
    expect(received).toContain(SECRET);
  });
});

describe("up in somebody else's folder", () => {
  it.each([
    { name: "a variable of the user's for an upstream", make: () => writeConfig() },
    {
      name: "the data of another gateway of the user's",
      make: () => {
        writeConfig({ more: "data_dir: ../production" });
        const file = join(folder, "gateway.yaml");
        write(file, readFileSync(file, "utf8").replace(", credential: {env: PRODUCTION_KEY}", ""));
      },
    },
  ])("starts nothing with $name, and says how to, and how to get the demo", async ({ make }) => {
    make();
    const { code, stdout, stderr } = await igw("up");
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toContain(`${join(folder, "gateway.yaml")} was found in this directory, but`);
    expect(stderr).toContain("`up --config gateway.yaml`");
    expect(stderr).toContain("The demo model starts in a directory without");
    expect(existsSync(join(folder, "data"))).toBe(false);
  });

  it("tells every mistake of its configuration in place of the demo", async () => {
    write(join(folder, "gateway.yaml"), "catalog: []\n");
    const { code, stderr } = await igw("up");
    expect(code).toBe(1);
    expect(stderr).toContain("upstreams");
    expect(existsSync(join(folder, "data"))).toBe(false);
  });
});

describe("the folder of a gateway of one's own", () => {
  let admin: AdminUnderTest;
  beforeAll(async () => {
    admin = await startAdmin();
  });
  afterAll(() => admin.stop());
  const own = (): string => new URL(admin.url).port;

  it("needs nothing where the token is in its data, and its name where that is in a variable", async () => {
    writeConfig({ admin: `{port: ${own()}}` });
    write(tokenFile(), `${OPERATOR_TOKEN}\n`);
    expect(await igw("org list")).toMatchObject({ code: 0, stderr: "" });
    writeConfig({ admin: `{port: ${own()}, operator_token: {env: IGW_OPERATOR_TOKEN}}` });
    const env = { IGW_OPERATOR_TOKEN: OPERATOR_TOKEN };
    expect((await igw("org list", env)).code).toBe(1);
    expect(await igw("org list --config gateway.yaml", env)).toMatchObject({ code: 0, stderr: "" });
  });

  it("takes a token from the command line before one in a variable", async () => {
    write(join(home, "token"), `${OPERATOR_TOKEN}\n`);
    const env = { IGW_ADMIN_URL: admin.url, IGW_ADMIN_TOKEN: "wrong" };
    expect((await igw("org list --token-file ../token", env)).code).toBe(0);
  });

  it("makes no token that no gateway has read", async () => {
    writeConfig({ admin: `{port: ${own()}}` });
    mkdirSync(join(folder, "data"));
    const { code, stderr } = await igw("org list --config gateway.yaml");
    expect([code, stderr]).toEqual([1, expect.stringContaining("Start the gateway first")]);
    expect(() => rmSync(tokenFile())).toThrow("ENOENT");
  });
});
