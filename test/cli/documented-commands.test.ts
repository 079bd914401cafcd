/**
 * Every command in the documents is run as printed, on a real stack, or is in a list that says why not and which test runs
 * it instead. The commands of a page run in order in one shell, so a page sets its own variables; each page begins with a
 * new organization Acme, as first-cap.md leaves it. The commands of first-cap.md have a test that compares their output.
 * On each push the shell has `inference-gateway` run in this process: as a program, each takes a third of a second of a core.
 */
import { execFile } from "node:child_process";
import { chmodSync, copyFileSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startDemoUpstream } from "../../src/operation/demo/upstream.ts";
import { CHAT_PATH } from "../support/chat-stack.ts";
import { listCommands, reasonOf } from "../support/documented-commands.ts";
import { listCodeBlocks } from "../support/documents.ts";
import { byExtent } from "../support/extent.ts";
import { CHAT_MODEL, catalogEntry } from "../support/gateway-config.ts";
import { waitFor } from "../support/wait.ts";
import { withStack } from "../support/with-stack.ts";
import { callCli } from "./call-cli.ts";
import { environmentOfCli } from "./run-cli.ts";

const run = promisify(execFile);
/** A page has a dozen commands, each a program. */
const PAGE_TIMEOUT_MS = 300_000;
const MAIN = fileURLToPath(new URL("../../dist/main.js", import.meta.url));
const BOOTSTRAP = fileURLToPath(new URL("../fixtures/bootstraps/front-proxy.yaml", import.meta.url));

const COMMANDS = listCommands();
const PAGES = [...new Set(COMMANDS.map(({ page }) => page))]
  .map((page) => ({
    page,
    commands: COMMANDS.filter((one) => one.page === page && reasonOf(one.command) === undefined).map(
      ({ command }) => command,
    ),
  }))
  .filter(({ commands }) => commands.length > 0);

const upstream = await startDemoUpstream({ host: "127.0.0.1", port: 0 });
const prices = { USD: { input: "2.50", output: "10.00" } };
const getStack = withStack({
  upstreams: [{ name: "local", url: upstream.url, path_prefix: "/v1" }],
  catalog: [catalogEntry(), catalogEntry({ id: "demo/echo", upstream: "local", prices })],
});

beforeAll(async () => {
  const stack = getStack();
  const bin = join(stack.dir, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "inference-gateway"), `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`);
  chmodSync(join(bin, "inference-gateway"), 0o755);
  copyFileSync(BOOTSTRAP, join(stack.dir, "my-envoy.yaml"));
  // What `usage rebuild` reads.
  await stack.send({
    path: CHAT_PATH,
    body: { model: CHAT_MODEL, messages: [{ role: "user", content: "hello" }] },
  });
  await waitFor("the request log", () => existsSync(join(stack.dir, "data/requests")));
});
afterAll(() => upstream.close());

/** Runs the command line that a shell sends: environment, an empty entry, folder, arguments. Answers a script of its outcome. */
async function runSent(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const entries = (await text(request)).split("\0");
  const end = entries.indexOf("");
  const env = Object.fromEntries(
    entries
      .slice(0, end)
      .map((entry) => [entry.slice(0, entry.indexOf("=")), entry.slice(entry.indexOf("=") + 1)]),
  );
  const [cwd = "", ...args] = entries.slice(end + 1, -1);
  const { code, stdout, stderr } = await callCli(args, { cwd, env });
  response.end(`printf %s ${quote(stdout)}; printf %s ${quote(stderr)} >&2; return ${code}`);
}
const commands = createServer((request, response) => void runSent(request, response));
const quote = (words: string) => `'${words.replaceAll("'", "'\\''")}'`;
const socketOf = (dir: string) => join(dir, "commands.sock");
beforeAll(() => new Promise<void>((resolve) => commands.listen(socketOf(getStack().dir), resolve)));
afterAll(() => commands.close());

const IN_THIS_PROCESS = `inference-gateway() {
  eval "$({ env -0; printf '\\0'; printf '%s\\0' "$PWD" "$@"; } | command curl --silent --fail --unix-socket "$COMMANDS" --data-binary @- http://commands/)"
}
`;

/** Limits that first-cap.md sets, and no example of another page undoes. */
const MONTHLY = { hard_cap_cents: 10_000, budget_cents: 8_000 };

interface Organization {
  readonly id: string;
  readonly name: string;
  readonly hard_cap_cents: number | null;
  readonly budget_cents: number | null;
}

async function findAcme(): Promise<Organization | undefined> {
  const list = await getStack().admin("GET", "/api/organizations?limit=100");
  return (list as unknown as { readonly data: readonly Organization[] }).data.find(
    ({ name }) => name === "Acme",
  );
}

async function readMonthlyLimits(): Promise<Readonly<Record<string, number | null | undefined>>> {
  const acme = await findAcme();
  return { hard_cap_cents: acme?.hard_cap_cents, budget_cents: acme?.budget_cents };
}

/** Frees the name Acme, which no two organizations have, and gives it to a new one. */
async function createAcme(page: string): Promise<void> {
  const stack = getStack();
  const previous = await findAcme();
  if (previous !== undefined) {
    await stack.admin("PATCH", `/api/organizations/${previous.id}`, { name: `Acme before ${page}` });
  }
  const { id } = await stack.admin("POST", "/api/organizations", {
    name: "Acme",
    currency: "USD",
    ...MONTHLY,
  });
  await stack.admin("POST", `/api/organizations/${String(id)}/keys`, { name: "ci" });
  await stack.admin("POST", `/api/organizations/${String(id)}/keys`, { name: "laptop" });
}

/** A script with the addresses of this stack in place of the usual ones. */
function runAsItStands(script: string): Promise<{ stdout: string }> {
  const { dir, baseUrl, adminUrl, adminToken } = getStack();
  const moved = script
    .replaceAll("http://127.0.0.1:10000", baseUrl)
    .replaceAll("http://127.0.0.1:10001", adminUrl)
    .replaceAll("/run/inference-gateway", join(dir, "run"));
  const env = environmentOfCli({
    PATH: `${join(dir, "bin")}:${process.env["PATH"]}`,
    IGW_ADMIN_URL: adminUrl,
    IGW_ADMIN_TOKEN: adminToken,
    IGW_OPERATOR_TOKEN: adminToken,
    COMMANDS: socketOf(dir),
  });
  // curl takes an error's status for a success.
  const strict = `curl() { command curl --silent --show-error --fail-with-body "$@"; }
npx() { "$@"; }
${byExtent({ push: IN_THIS_PROCESS, nightly: "" })}`;
  return run("bash", ["-euo", "pipefail", "-c", strict + moved], { cwd: dir, env, timeout: PAGE_TIMEOUT_MS });
}

/** The two mistakes of docs/configuration.md. */
const BAD_FILE = `
upstreams: [{ name: local, url: "http://127.0.0.1:8000" }]
catalog:
  - id: acme/echo-small
    upstream: local
    upstrem_model: echo
    context_window: 128000
    max_output_tokens: 8192
    prices:
      USD: { input: 2.50, output: "10.00" }
`;

describe("what the documents show of files with mistakes", () => {
  /** A session of `config check` at a prompt, and what it printed; lines of a file may be others. */
  const sessions = listCodeBlocks().flatMap(({ page, language, text }) => {
    const [, command = "", shown = ""] =
      /^\$ inference-gateway (config check [^\n]*)\n(.*)$/s.exec(text) ?? [];
    return language === "console" && command !== "" ? [{ page, command, shown: withoutLines(shown) }] : [];
  });

  it.each(sessions)("is what is printed: $page", async ({ command, shown }) => {
    const stack = getStack();
    const folder = join(stack.dir, "mistakes");
    mkdirSync(folder, { recursive: true });
    const isOfEnvoy = command.includes("--envoy");
    if (isOfEnvoy) {
      const { stdout } = await callCli(["envoy", "render", "--config", stack.configFile]);
      const bootstrap = stdout.replace("normalize_path: true", "normalize_path: false");
      writeFileSync(join(folder, "my-envoy.yaml"), bootstrap);
      copyFileSync(stack.configFile, join(folder, "gateway.yaml"));
    } else writeFileSync(join(folder, "gateway.yaml"), BAD_FILE);
    const args = [...command.split(" "), ...(isOfEnvoy ? ["--no-validate"] : [])];
    const { code, stdout, stderr } = await callCli(args, { cwd: folder });
    expect([code, withoutLines(stdout + stderr)]).toEqual([1, shown]);
  });

  it("are two", () => {
    expect(sessions).toHaveLength(2);
  });
});

function withoutLines(text: string): string {
  return text.replaceAll(/(?<=line )\d+/g, "…");
}

describe("the documents", () => {
  it.each(PAGES)(
    "$page: every command, in order",
    async ({ page, commands }) => {
      await createAcme(page);
      const script = commands.map((command, index) => `echo "=== ${index}"\n${command}\n`).join("");
      const { stdout } = await runAsItStands(script).catch((error: { stdout?: string; stderr?: string }) => {
        const last = Number(/=== (\d+)\n(?![^]*=== \d+\n)/.exec(error.stdout ?? "")?.[1] ?? 0);
        throw new Error(`${commands[last]}\n${error.stdout ?? ""}${error.stderr ?? ""}`);
      });
      expect(stdout).not.toMatch(/"error"|^error/m);
      expect(await readMonthlyLimits()).toEqual(MONTHLY);
    },
    PAGE_TIMEOUT_MS,
  );
});
