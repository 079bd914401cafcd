import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  type AdminUnderTest,
  createOrganization,
  createToken,
  OPERATOR_TOKEN,
  startAdmin,
} from "../admin/admin-fixture.ts";
import { findFreePort } from "../support/free-port.ts";
import { callCli } from "./call-cli.ts";
import { typeCli } from "./run-cli.ts";

let admin: AdminUnderTest;
let organization = "";
beforeAll(async () => {
  admin = await startAdmin();
  organization = await createOrganization(admin);
});
afterAll(() => admin.stop());

/** The home of a user, and the file that login writes there. */
let home = "";
const fileOf = () => join(home, "config", "inference-gateway", "login.json");
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "igw-login-"));
});
afterEach(() => rmSync(home, { recursive: true }));

const environment = () => ({ XDG_CONFIG_HOME: join(home, "config") });
const igw = (args: string, options: { input?: string; env?: Record<string, string>; cwd?: string } = {}) =>
  callCli(args.split(" "), { ...options, env: { ...environment(), ...options.env } });
const logIn = (token = OPERATOR_TOKEN) => igw(`login --admin-url ${admin.url}`, { input: `${token}\n` });
const modeOf = (file: string) => statSync(file).mode & 0o777;

describe("inference-gateway login", () => {
  it("keeps address and token for its user alone, and commands then need neither", async () => {
    expect((await igw("org list")).stderr).toContain("Run `inference-gateway login`");
    const { code, stdout } = await logIn();
    expect(code).toBe(0);
    expect(stdout).toContain(`Logged in at ${admin.url}: operator, 1 organization.`);
    expect(stdout).toContain(fileOf());
    expect(stdout).not.toContain(OPERATOR_TOKEN);
    expect([modeOf(fileOf()), modeOf(dirname(fileOf()))]).toEqual([0o600, 0o700]);
    expect((await igw("org list")).stdout).toContain("Acme");
    expect((await igw("org list", { env: { IGW_ADMIN_URL: admin.url } })).code).toBe(0);
  });

  it("asks at a terminal without showing what is typed, and takes back what is erased", async () => {
    const types = [{ after: "(it is not shown): ", text: `x\u007f${OPERATOR_TOKEN}\r` }];
    const { code, screen } = await typeCli(["login", "--admin-url", admin.url], {
      env: environment(),
      types,
    });
    expect(screen).toContain("Logged in at");
    expect(screen).not.toContain(OPERATOR_TOKEN);
    expect(code).toBe(0);
    expect(modeOf(fileOf())).toBe(0o600);
  });

  it("is given up with Ctrl-C, and the terminal echoes again", async () => {
    const types = [{ after: "(it is not shown): ", text: "\u0003" }];
    const { code } = await typeCli(["login", "--admin-url", admin.url], { env: environment(), types });
    expect(code).not.toBe(0);
    expect(statSync(fileOf(), { throwIfNoEntry: false })).toBeUndefined();
  });

  it("takes the token from a file or the environment", async () => {
    const file = join(home, "token");
    writeFileSync(file, `${OPERATOR_TOKEN}\n`);
    expect((await igw(`login --admin-url ${admin.url} --token-file ${file}`)).code).toBe(0);
    rmSync(fileOf());
    const env = { IGW_ADMIN_URL: admin.url, IGW_ADMIN_TOKEN: OPERATOR_TOKEN };
    expect((await igw("login", { env })).code).toBe(0);
    expect(JSON.parse(readFileSync(fileOf(), "utf8"))).toEqual({
      admin_url: admin.url,
      token: OPERATOR_TOKEN,
    });
  });

  it.each([
    { name: "a wrong token", token: "igw_op_wrong", says: "Invalid management token" },
    { name: "no token", token: "", says: "No token" },
    { name: "what can be no token", token: "two words", says: "has invalid characters" },
    { name: "what is too long", token: "x".repeat(5_000), says: "too long" },
  ])("keeps nothing of $name", async ({ token, says }) => {
    const { code, stdout, stderr } = await logIn(token);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toContain(says);
    expect(statSync(fileOf(), { throwIfNoEntry: false })).toBeUndefined();
  });

  it("keeps what was there when nothing answers at the new address", async () => {
    await logIn();
    const kept = readFileSync(fileOf(), "utf8");
    const elsewhere = `login --admin-url http://127.0.0.1:${await findFreePort()}`;
    expect((await igw(elsewhere, { input: "token" })).code).toBe(1);
    expect(readFileSync(fileOf(), "utf8")).toBe(kept);
  });

  it("writes a file that others could read anew", async () => {
    await logIn();
    chmodSync(fileOf(), 0o644);
    await logIn();
    expect(modeOf(fileOf())).toBe(0o600);
  });
});

describe("what login has kept", () => {
  it.each([0o640, 0o604, 0o620])("is not used when others have the right %o to its file", async (mode) => {
    await logIn();
    chmodSync(fileOf(), mode);
    const { code, stderr } = await igw("org list");
    expect(code).toBe(1);
    expect(stderr).toContain(`can read ${fileOf()}`);
    expect(stderr).not.toContain(OPERATOR_TOKEN);
  });

  it("is not used when it is damaged, and what is in it is not told", async () => {
    await logIn();
    writeFileSync(fileOf(), `{"token":"${OPERATOR_TOKEN}`);
    const { code, stderr } = await igw("org list");
    expect(code).toBe(1);
    expect(stderr).toContain("isn't a file that login has written");
    expect(stderr).not.toContain(OPERATOR_TOKEN);
  });

  it("goes to no other address", async () => {
    await logIn();
    const url = `http://127.0.0.1:${await findFreePort()}`;
    const { stderr } = await igw(`org list --admin-url ${url}`);
    expect(stderr).toContain("--admin-url needs a token");
  });

  it("gives way to the stack in the folder, that to the environment, and that to the command line", async () => {
    await logIn();
    const sourceOf = async (env: Record<string, string> = {}, args = "") =>
      (await igw(`whoami --json${args}`, { env, cwd: home })).json()["token_from"];
    expect(await sourceOf()).toBe(`the login in ${fileOf()}`);
    mkdirSync(join(home, "data", "kept"), { recursive: true });
    const config = join(home, "data", "gateway.yaml");
    writeFileSync(join(home, "data", "kept", "operator-token"), `${OPERATOR_TOKEN}\n`);
    writeFileSync(
      config,
      `admin: {port: ${new URL(admin.url).port}}
data_dir: kept
upstreams: [{name: local, url: "http://127.0.0.1:8000"}]
catalog:
  - {id: a/b, upstream: local, context_window: 9, max_output_tokens: 9, prices: {USD: {input: "1", output: "1"}}}
`,
    );
    expect(String(await sourceOf())).toMatch(/data\/gateway\.yaml$/);
    const env = { IGW_ADMIN_URL: admin.url, IGW_ADMIN_TOKEN: OPERATOR_TOKEN };
    expect(await sourceOf(env)).toBe("the command line or the environment");
    const wrong = { IGW_ADMIN_URL: "http://127.0.0.1:9", IGW_ADMIN_TOKEN: "wrong" };
    const flags = ` --admin-url ${admin.url} --token ${OPERATOR_TOKEN}`;
    expect(await sourceOf(wrong, flags)).toBe("the command line or the environment");
  });
});

describe("inference-gateway whoami and logout", () => {
  it("says address, source and access, for the operator and for an organization's token, and never the token", async () => {
    await logIn();
    const { stdout } = await igw("whoami");
    expect(stdout).toMatch(
      new RegExp(`^address +${admin.url}\ntoken from +the login in .*\naccess +operator, `),
    );
    expect(stdout).not.toContain(OPERATOR_TOKEN);
    const token = await createToken(admin, organization, "viewer");
    expect((await logIn(token)).stdout).toContain('viewer of "Acme" by the token "the viewer"');
    expect((await igw("whoami --json")).json()).toEqual({
      admin_url: admin.url,
      token_from: `the login in ${fileOf()}`,
      role: "viewer",
      token_name: "the viewer",
      name: null,
      organization: { id: organization, name: "Acme" },
    });
  });

  it("forgets the login, once", async () => {
    await logIn();
    expect((await igw("logout")).stdout).toBe(`Deleted the login in ${fileOf()}.\n`);
    expect(statSync(fileOf(), { throwIfNoEntry: false })).toBeUndefined();
    expect((await igw("logout")).stdout).toBe("There was no login.\n");
    expect((await igw("org list")).code).toBe(1);
  });
});
