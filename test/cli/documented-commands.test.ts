/**
 * Every command in the documents is run as it stands, on a real stack and from its folder, or is in a list that says why not
 * and what tries it instead. The walkthrough has a test of its own, which compares what it prints.
 */
import { execFile } from "node:child_process";
import { chmodSync, copyFileSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startDemoUpstream } from "../../src/demo/upstream.ts";
import { CHAT_PATH } from "../support/chat-stack.ts";
import { listCodeBlocks, listCodeSpans } from "../support/documents.ts";
import { CHAT_MODEL } from "../support/gateway-config.ts";
import { waitFor } from "../support/wait.ts";
import { withStack } from "../support/with-stack.ts";
import { environmentOfCli, runCli } from "./run-cli.ts";

const run = promisify(execFile);
const MAIN = fileURLToPath(new URL("../../dist/main.js", import.meta.url));
const BOOTSTRAP = fileURLToPath(new URL("../fixtures/bootstraps/front-proxy.yaml", import.meta.url));

/** How a command begins → why it is not run here, and what tries it. */
const NOT_RUN: Readonly<Record<string, string>> = {
  "export ANTHROPIC_BASE_URL": "starts Claude Code: test/clients/claude-code.test.ts",
  "npm start -- --upstream":
    "installs, builds and serves until it is stopped: test/setup/up-upstream.test.ts",
  "npm start": "installs, builds and serves until it is stopped: test/setup/up.test.ts",
  "npm run bench": "takes minutes: test/setup/bench-programs.test.ts",
  "npx tsx test/bench/": "takes minutes, and fills a Redis",
  "KEY=$(printf %s": "wants an event that was received: test/alerts/documentation.test.ts",
  "inference-gateway config check": "shows what files with mistakes get: below",
  "docker compose": "wants a container engine: test/packaging/compose.test.ts",
  "KEY=$(docker compose": "wants a container engine: test/packaging/compose.test.ts",
  "docker build": "wants a container engine: test/packaging/compose.test.ts",
  "curl localhost:10000": "wants the containers: test/packaging/compose.test.ts",
  "KEY=$(kubectl": "wants a cluster: test/packaging/kubernetes.test.ts",
  kubectl: "wants a cluster: test/packaging/kubernetes.test.ts",
  helm: "wants a cluster: test/packaging/chart.test.ts",
  "envoy -c envoy.yaml": "Envoy runs already, on the same port: test/envoy/bootstrap-examples.test.ts",
};

interface DocumentedCommand {
  readonly page: string;
  readonly command: string;
}

/** Blocks of shell as a whole, sessions at a prompt command by command, and what is to be asked for within a sentence. */
function listCommands(): DocumentedCommand[] {
  const blocks = listCodeBlocks().filter(({ page }) => page !== "docs/first-cap.md");
  const commands = blocks.flatMap(({ page, language, text }) => {
    if (language === "sh") return [{ page, command: text }];
    if (language !== "console") return [];
    const typed = text.matchAll(/^\$ (.*(?:\\\n.*)*)/gm);
    return Array.from(typed, ([, command = ""]) => ({ page, command }));
  });
  const asked = listCodeSpans().filter(({ text }) => text.startsWith("curl "));
  return [...commands, ...asked.map(({ page, text }) => ({ page, command: text }))];
}

const reasonOf = (command: string): string | undefined =>
  Object.keys(NOT_RUN).find((begin) => command.startsWith(begin));

const COMMANDS = listCommands();
const RUN = COMMANDS.filter(({ command }) => reasonOf(command) === undefined);

const upstream = await startDemoUpstream({ host: "127.0.0.1", port: 0 });
const getStack = withStack({ upstreams: [{ name: "local", url: upstream.url, path_prefix: "/v1" }] });
const organization = { id: "" };

beforeAll(async () => {
  const stack = getStack();
  const made = await stack.admin("POST", "/api/organizations", { name: "Acme", currency: "USD" });
  organization.id = String(made["id"]);
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

/** No two organizations have one name: what makes one finds its name free. */
async function makeRoomFor(command: string): Promise<void> {
  if (!/\/api\/organizations .*-d /s.test(command)) return;
  await getStack().admin("PATCH", `/api/organizations/${organization.id}`, { name: "Acme of before" });
}

/** With the addresses of this stack in place of the usual ones. */
function runAsItStands(command: string): Promise<{ stdout: string }> {
  const { dir, baseUrl, adminUrl, adminToken } = getStack();
  const script = command
    .replaceAll("http://127.0.0.1:10000", baseUrl)
    .replaceAll("http://127.0.0.1:10001", adminUrl)
    .replaceAll("/run/inference-gateway", join(dir, "run"));
  const env = environmentOfCli({
    PATH: `${join(dir, "bin")}:${process.env["PATH"]}`,
    IGW_ADMIN_URL: adminUrl,
    IGW_ADMIN_TOKEN: adminToken,
    IGW_OPERATOR_TOKEN: adminToken,
    ORGANIZATION: organization.id,
  });
  // curl takes an error's status for a success.
  const strict = 'curl() { command curl --silent --show-error --fail-with-body "$@"; }\n';
  return run("bash", ["-euo", "pipefail", "-c", strict + script], { cwd: dir, env, timeout: 60_000 });
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
    const rendered = await runAsItStands(`inference-gateway envoy render --config ${stack.configFile}`);
    const bootstrap = rendered.stdout.replace("normalize_path: true", "normalize_path: false");
    writeFileSync(join(folder, "my-envoy.yaml"), bootstrap);
    if (isOfEnvoy) copyFileSync(stack.configFile, join(folder, "gateway.yaml"));
    else writeFileSync(join(folder, "gateway.yaml"), BAD_FILE);
    const args = [...command.split(" "), ...(isOfEnvoy ? ["--no-validate"] : [])];
    const { code, stdout, stderr } = await runCli(args, { cwd: folder });
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
  it.each(RUN)("$page: $command", async ({ command }) => {
    await makeRoomFor(command);
    const { stdout } = await runAsItStands(command).catch((error: { stdout?: string; stderr?: string }) => {
      throw new Error(`${error.stdout ?? ""}${error.stderr ?? ""}`);
    });
    expect(stdout).not.toMatch(/"error"|^error/m);
  });

  it("have no other command that is not run here than those of the list, each with its reason", () => {
    const used = new Set(COMMANDS.map(({ command }) => reasonOf(command)));
    expect(Object.keys(NOT_RUN).filter((begin) => !used.has(begin))).toEqual([]);
    expect(RUN.length).toBeGreaterThan(12);
  });
});
