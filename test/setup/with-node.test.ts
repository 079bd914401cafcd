/** The npm scripts where the Node on PATH is too old. Here it is the one of this test, made to give an old version. */
import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DEFAULT_NODE } from "../../src/operation/setup/node-version.js";
import { startChild } from "../support/child.ts";
import { runAtTerminal } from "../support/terminal.ts";
import { waitFor } from "../support/wait.ts";
import { createTestFolder, endWithTest, writeProgram } from "./support/stand-in-stack.ts";

const SETUP = fileURLToPath(new URL("../../src/operation/setup/", import.meta.url));
const WANTED = DEFAULT_NODE[`${process.platform}-${process.arch}`];
const OLD = "20.20.2";
const INSTALLATION_MS = 600_000;

const PROGRAM = `
import { execSync } from "node:child_process";
const [task] = process.argv.slice(2);
const print = (value) => console.log(JSON.stringify(value));
const ask = (command) => execSync(command, { encoding: "utf8" }).trim();
if (task === "versions") print([process.version, ask("node --version"), "v" + JSON.parse(ask("npm version --json")).node]);
if (task === "echo") process.stdin.pipe(process.stdout);
if (task === "terminal") print([process.stdin.isTTY, process.stdout.isTTY]);
if (task === "exit") process.exit(7);
if (task === "wait") {
  process.once("SIGTERM", () => process.exit(3));
  setInterval(() => undefined, 60_000);
  print(process.pid);
}
`;

interface Clone {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
}

/** A clone of the set-up with a program for \`npm start\`, and an old Node first on PATH. */
function createClone(folder: string): Clone {
  cpSync(SETUP, join(folder, "src", "operation", "setup"), { recursive: true });
  const scripts = { start: "sh src/operation/setup/with-node.sh program.js" };
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "clone", type: "module", scripts }));
  writeFileSync(join(folder, "program.js"), PROGRAM);
  const versions = `Object.defineProperty(process,"versions",{value:{...process.versions,node:"${OLD}"}})`;
  mkdirSync(join(folder, "bin"));
  writeProgram(
    join(folder, "bin", "node"),
    `exec '${process.execPath}' --import 'data:text/javascript,${versions}' "$@"`,
  );
  return { folder, env: { PATH: [join(folder, "bin"), process.env["PATH"]].join(delimiter) } };
}

function start({ folder, env }: Clone, task: string, options: { env?: object; input?: string } = {}) {
  return spawnSync("npm", ["start", "--silent", "--", task], {
    cwd: folder,
    encoding: "utf8",
    env: { ...process.env, ...env, ...options.env },
    input: options.input ?? "",
  });
}

/** Changes what the set-up of a clone says of the default Node. */
function editDefault({ folder }: Clone, from: RegExp, to: string): void {
  const file = join(folder, "src", "operation", "setup", "node-version.js");
  writeFileSync(file, readFileSync(file, "utf8").replaceAll(from, to));
}

describe.skipIf(WANTED === undefined)("an npm script on a Node that is too old", () => {
  const folder = mkdtempSync(join(tmpdir(), "igw-node-"));
  const programs = join(folder, ".tools", `node-${WANTED?.version}`, "node_modules", ".bin");
  let clone: Clone;

  beforeAll(() => {
    clone = createClone(folder);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it(
    "installs the default Node, says so in one line, and runs by it with all that it starts",
    () => {
      const { status, stdout, stderr } = start(clone, "versions");
      const lines = stderr.split("\n").filter((line) => !line.startsWith("Installing"));
      expect(lines).toEqual([
        `Node ${OLD} is older than 22.12.0: using Node ${WANTED?.version} (for npx, put ${programs} first on PATH).`,
        "",
      ]);
      const version = `v${WANTED?.version}`;
      expect([status, JSON.parse(stdout)]).toEqual([0, [version, version, version]]);
      expect(readdirSync(join(folder, ".tools"))).toEqual([`node-${WANTED?.version}`]);
    },
    INSTALLATION_MS,
  );

  it("needs no registry from then on, and keeps input and exit code", () => {
    const env = { npm_config_registry: "http://127.0.0.1:9" };
    expect(start(clone, "echo", { env, input: "typed" }).stdout).toBe("typed");
    expect(start(clone, "exit", { env }).status).toBe(7);
  });

  it("becomes the program, which gets every signal by itself", async () => {
    const args = [
      join(folder, "src", "operation", "setup", "with-node.sh"),
      join(folder, "program.js"),
      "wait",
    ];
    const child = startChild("sh", args, { env: { ...process.env, ...clone.env } });
    endWithTest(child);
    await waitFor("the program", () => child.stdoutLines.length === 1, { timeoutMs: 60_000 });
    expect(child.stdoutLines).toEqual([String(child.pid)]);
    child.signal("SIGTERM");
    expect(await child.waitForEnd()).toBe(3);
  });

  it("has the person's terminal", async () => {
    const { code, screen } = await runAtTerminal(["npm", "start", "--silent", "--", "terminal"], {
      cwd: folder,
      env: clone.env,
    });
    expect(code).toBe(0);
    expect(screen).toContain("[true,true]");
  });
});

describe("an npm script on a Node that is too old ends with what to install", () => {
  it.skipIf(WANTED === undefined)(
    "when what comes is not what was pinned, and keeps nothing of it",
    () => {
      const clone = createClone(createTestFolder());
      editDefault(clone, /"sha512-./g, '"sha512-=');
      const { status, stdout, stderr } = start(clone, "versions");
      expect([status, stdout]).toEqual([1, ""]);
      expect(stderr).toContain(
        `Node ${OLD} is older than 22.12.0, and ${WANTED?.name} could not be installed (`,
      );
      expect(stderr).toMatch(/\): install Node 22\.12\.0 or newer\.\n$/);
      expect(existsSync(join(clone.folder, ".tools", `node-${WANTED?.version}`))).toBe(false);
    },
    INSTALLATION_MS,
  );

  it("when there is none for the platform", () => {
    const clone = createClone(createTestFolder());
    editDefault(clone, /"(linux|darwin)-/g, '"other-');
    const { status, stdout, stderr } = start(clone, "versions");
    expect([status, stdout]).toEqual([1, ""]);
    expect(stderr).toBe(
      `Node ${OLD} is older than 22.12.0, and there is none to install for ${process.platform} ${process.arch}: install Node 22.12.0 or newer.\n`,
    );
  });
});

it("an npm script on a Node that is new enough says nothing and installs nothing", () => {
  const clone = createClone(createTestFolder());
  const PATH = [dirname(process.execPath), process.env["PATH"]].join(delimiter);
  const { stdout, stderr } = start({ ...clone, env: { PATH } }, "versions");
  expect([JSON.parse(stdout)[0], stderr]).toEqual([process.version, ""]);
  expect(existsSync(join(clone.folder, ".tools"))).toBe(false);
});
