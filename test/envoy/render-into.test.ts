/** `envoy render --into`: the gateway in an operator's own Envoy, beside a service that goes on as it was. */
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { callCli } from "../cli/call-cli.ts";
import { CHAT_PATH, chatBody, withSharedChatStack } from "../support/chat-stack.ts";
import { type Child, startChild } from "../support/child.ts";
import { findFreePort } from "../support/free-port.ts";
import { send } from "../support/http.ts";
import { runAtTerminal } from "../support/terminal.ts";
import { type ScriptedUpstream, startUpstream } from "../support/upstream.ts";
import { waitFor } from "../support/wait.ts";
import { findEnvoy } from "./edge/envoy-binary.ts";

const MAIN = fileURLToPath(new URL("../../dist/main.js", import.meta.url));
const FIXTURES = fileURLToPath(new URL("../fixtures/bootstraps/", import.meta.url));
/** Above the bound of the gateway's bodies: nothing of the shop's business. */
const LARGE_BYTES = 40 * 1024 * 1024;

const chat = withSharedChatStack();
let shop: ScriptedUpstream;
let dir: string;
beforeAll(async () => {
  shop = await startUpstream();
  dir = chat.stack.dir;
});
afterAll(() => shop?.close());

const render = (file: string, ...more: readonly string[]) =>
  callCli(["envoy", "render", "--config", chat.stack.configFile, "--into", file, ...more]);

/** A bootstrap of the operator's in a folder of its own. */
function place(fixture: string, name: string, edit: (text: string) => string = (text) => text): string {
  const file = join(dir, `${name}.yaml`);
  writeFileSync(file, edit(readFileSync(join(FIXTURES, `${fixture}.yaml`), "utf8")));
  return file;
}

describe("envoy render --into", () => {
  it("shows the difference and writes nothing without --write where there is no terminal", async () => {
    const file = place("front-proxy", "shown");
    const before = readFileSync(file, "utf8");
    const { code, stdout, stderr } = await render(file);
    expect([code, stderr]).toEqual([0, `Nothing was written to ${file}: pass --write to write it.\n`]);
    expect(stdout).toMatch(/^--- .*shown\.yaml\n\+\+\+ .*\n@@ -\d+,\d+ \+\d+,\d+ @@\n/u);
    expect(stdout).toMatch(/^\+ *- name: envoy\.filters\.http\.ext_authz$/mu);
    expect(readFileSync(file, "utf8")).toBe(before);
  });

  it.each([
    { fixture: "front-proxy", options: [] },
    { fixture: "quick-start", options: ["--domain", "api.example.com"] },
    { fixture: "two-listeners", options: ["--listener", "public"] },
  ])(
    "writes $fixture so that Envoy and config check accept it, and twice is once",
    async ({ fixture, options }) => {
      const file = place(fixture, `written-${fixture}`);
      const before = readFileSync(file, "utf8");
      chmodSync(file, 0o640);
      const { code, stderr } = await render(file, "--write", ...options);
      expect([code, stderr]).toEqual([
        0,
        `Written. The previous ${file} is in ${file}.before. Next: inference-gateway config check --config ${chat.stack.configFile} --envoy ${file}\n`,
      ]);
      expect(readFileSync(`${file}.before`, "utf8")).toBe(before);
      expect(statSync(file).mode & 0o777).toBe(0o640);
      const checked = await callCli(["config", "check", "--config", chat.stack.configFile, "--envoy", file], {
        env: { ENVOY_BIN: findEnvoy() },
      });
      expect(checked).toMatchObject({
        code: 0,
        stdout: expect.stringContaining("Envoy accepts it") as string,
      });
      const merged = readFileSync(file, "utf8");
      const again = await render(file, "--write", ...options);
      expect(again).toMatchObject({
        code: 0,
        stdout: "",
        stderr: `${file} already has all parts: nothing to change.\n`,
      });
      expect(readFileSync(file, "utf8")).toBe(merged);
      expect(readdirSync(dir).filter((name) => name.includes(`written-${fixture}`))).toHaveLength(2);
    },
  );

  it.each([
    { answer: "y", isWritten: true },
    { answer: "n", isWritten: false },
  ])("asks at a terminal, and $answer is $isWritten", async ({ answer, isWritten }) => {
    const file = place("front-proxy", `asked-${answer}`);
    const before = readFileSync(file, "utf8");
    const command = [
      process.execPath,
      MAIN,
      "envoy",
      "render",
      "--config",
      chat.stack.configFile,
      "--into",
      file,
    ];
    const types = [{ after: "[y/N] ", text: `${answer}\n` }];
    expect((await runAtTerminal(command, { cwd: dir, types })).code).toBe(0);
    expect(readFileSync(file, "utf8") !== before).toBe(isWritten);
    expect(existsSync(`${file}.before`)).toBe(isWritten);
  });

  it("leaves what it cannot merge as it is, and names the place", async () => {
    const file = place("quick-start", "refused");
    const before = readFileSync(file, "utf8");
    const { code, stdout, stderr } = await render(file, "--write");
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(
      /refused\.yaml can't be merged and is unchanged:\n {2}static_resources\..*virtual_hosts\[0\]: /u,
    );
    expect(readFileSync(file, "utf8")).toBe(before);
    expect(existsSync(`${file}.before`)).toBe(false);
  });

  it.each([
    { args: ["--listener", "edge"], says: "--listener, --domain and --write need --into." },
    { args: ["--into", "x.yaml", "--snippets"], says: "--into can't be combined" },
  ])("is told apart from what does not go with it: $args", async ({ args, says }) => {
    const result = await callCli(["envoy", "render", "--config", chat.stack.configFile, ...args]);
    expect([result.code, result.stderr.includes(says)]).toEqual([2, true]);
  });
});

describe("an operator's Envoy with the gateway in it", () => {
  let envoy: Child;
  let baseUrl: string;
  beforeAll(async () => {
    const port = await findFreePort();
    const file = place("front-proxy", "running", (text) =>
      text
        .replace(
          "socket_address: { address: 127.0.0.1, port_value: 0 }",
          `socket_address: { address: 127.0.0.1, port_value: ${port} }`,
        )
        .replace("port_value: 8080", `port_value: ${shop.port}`),
    );
    await render(file, "--write");
    envoy = startChild(findEnvoy(), ["-c", file, "--disable-hot-restart", "--log-level", "warning"]);
    baseUrl = `http://127.0.0.1:${port}`;
    const isReady = async (): Promise<boolean> => {
      if (envoy.ended !== null) throw new Error(envoy.stderr);
      return (await send(baseUrl, { path: "/readyz", timeoutMs: 2_000 })).status === 200;
    };
    await waitFor("the operator's Envoy", isReady, { timeoutMs: 30_000, intervalMs: 50 });
  }, 90_000);
  afterAll(() => envoy?.stop(10_000));

  it("serves requests with a key and refuses others", async () => {
    const ask = (headers: Record<string, string>) =>
      send(baseUrl, { path: CHAT_PATH, headers, body: chatBody() });
    expect((await ask({ authorization: `Bearer ${chat.key.key}` })).status).toBe(200);
    expect((await ask({})).status).toBe(401);
  });

  it("serves the operator's own service without keys and without the gateway's bounds", async () => {
    const answer = await send(baseUrl, {
      method: "POST",
      path: CHAT_PATH,
      headers: { host: "shop.example.com" },
      body: { ...chatBody({ model: "echo" }), padding: "x".repeat(LARGE_BYTES) },
      timeoutMs: 60_000,
    });
    expect([answer.status, shop.requests.length]).toEqual([200, 1]);
  });
});
