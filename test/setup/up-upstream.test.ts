/** `up --upstream`: a model server that runs, a fresh folder, one command. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { parse } from "yaml";
import { writeFirstConfig } from "../../src/operation/launcher/first-config/write-first-config.ts";
import { callCli } from "../cli/call-cli.ts";
import { runCli } from "../cli/run-cli.ts";
import { type Child, startChild } from "../support/child.ts";
import { findFreePort } from "../support/free-port.ts";
import { send } from "../support/http.ts";
import { textCompletion } from "../support/scripted-answer.ts";
import { createTestFolder, endWithTest, stackIn, waitForReadyLine } from "./support/stand-in-stack.ts";

const START = fileURLToPath(new URL("../../src/operation/setup/start.js", import.meta.url));
const MAIN = fileURLToPath(new URL("../../dist/main.js", import.meta.url));
const KEY = "sk-model-server-key";
const REFUSED = { code: 1, stdout: "", leaks: false, isWritten: false };

interface ModelServer {
  /** With `/v1`. */
  readonly url: string;
  /** Bodies of the chat requests that it was sent. */
  readonly chats: Record<string, unknown>[];
}

/** A model server whose `GET /v1/models` answers so; with `key` it answers 401 without it. */
async function startModelServer(
  list: unknown,
  options: {
    key?: string;
    status?: number;
    /** What Ollama's own API shows of its models. */
    shown?: Readonly<Record<string, object>>;
    /** So often it says that it is loading its model. */
    loadingAnswers?: number;
  } = {},
): Promise<ModelServer> {
  const chats: Record<string, unknown>[] = [];
  let loading = options.loadingAnswers ?? 0;
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const reply = (status: number, body: unknown): void => {
      response.writeHead(status, { "content-type": "application/json" });
      response.end(typeof body === "string" ? body : JSON.stringify(body));
    };
    if (options.key !== undefined && request.headers.authorization !== `Bearer ${options.key}`) {
      return reply(401, { error: { message: "no key" } });
    }
    if (loading-- > 0) return reply(503, { error: { code: 503, message: "Loading model" } });
    if (request.method === "POST" && request.url === "/api/show") {
      const { model } = JSON.parse(Buffer.concat(pieces).toString()) as { model: string };
      const shown = options.shown?.[model];
      return shown === undefined ? reply(404, { error: "not found" }) : reply(200, shown);
    }
    if (request.method === "GET" && request.url === "/v1/models") return reply(options.status ?? 200, list);
    if (request.method !== "POST") return reply(404, {});
    chats.push(JSON.parse(Buffer.concat(pieces).toString()) as Record<string, unknown>);
    reply(200, textCompletion("hello from the model", null));
  };
  const server: Server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, chats };
}

/** The `gateway.yaml` that is written for it. */
async function writeFirst({ url }: ModelServer): Promise<unknown> {
  const file = join(createTestFolder(), "gateway.yaml");
  const notices: string[] = [];
  await writeFirstConfig({
    upstream: url,
    keyVariable: null,
    file,
    notice: (line) => void notices.push(line),
  });
  expect(notices.join("\n")).toContain("All prices are 0");
  return parse(readFileSync(file, "utf8"));
}

function startUp(folder: string, args: readonly string[], env: Record<string, string> = {}): Child {
  const program = process.env["IGW_SKIP_BUILD"] ? [MAIN, "up"] : [START];
  const child = startChild(process.execPath, [...program, ...args, "--json"], {
    cwd: folder,
    env: { ...process.env, ...env },
  });
  endWithTest(child);
  return child;
}

const MODELS = {
  object: "list",
  data: [
    { id: "meta-llama/Llama-3.1-8B-Instruct", object: "model", max_model_len: 32_768 },
    { id: "llama3.2:latest", object: "model" },
    { id: "/models/qwen.gguf", object: "model", meta: { n_ctx_train: 4096 } },
    { id: "nomic-embed-text", object: "model" },
    { id: "bad\nid", object: "model" },
    { id: "///" },
    { object: "model" },
  ],
};

describe("up --upstream", () => {
  it("writes a first gateway.yaml from the server's models, and a chat is answered through it", async () => {
    const server = await startModelServer(MODELS, { key: KEY });
    const folder = createTestFolder();
    const args = ["--upstream", `${server.url}/`, "--upstream-key-env", "TEST_MODEL_KEY"];
    const child = startUp(folder, args, { TEST_MODEL_KEY: KEY });
    const ready = await waitForReadyLine(stackIn(folder, child));
    const ask = (model: string) =>
      send(String(ready["base_url"]), {
        path: "/v1/chat/completions",
        headers: { authorization: `Bearer ${String(ready["demo_key"])}` },
        body: { model, messages: [{ role: "user", content: "hi" }] },
      });
    for (const model of ["meta-llama/Llama-3.1-8B-Instruct", "llama3.2:latest", "local/qwen.gguf"]) {
      const answer = await ask(model);
      expect([model, answer.status, answer.text]).toEqual([
        model,
        200,
        expect.stringContaining("hello from the model"),
      ]);
    }
    expect(server.chats.map(({ model }) => model)).toEqual([
      "meta-llama/Llama-3.1-8B-Instruct",
      "llama3.2:latest",
      "/models/qwen.gguf",
    ]);
    expect(child.stderr).toContain('Left out: "bad\\nid", which can\'t become a model name.');
    expect(child.stderr).toContain('Left out: "///", which can\'t become a model name.');
    expect(child.stderr).toContain('Left out: {"object":"model"}, which can\'t become a model name.');
    expect(child.stderr).toContain("All prices are 0: set them in this file.");
    const text = readFileSync(join(folder, "gateway.yaml"), "utf8");
    expect(text).not.toContain(KEY);
    expect(text.match(/# Set the prices/gu)).toHaveLength(4);
    const USD = { input: "0", output: "0" };
    expect(parse(text)).toMatchObject({
      upstreams: [
        {
          name: "local",
          url: server.url.slice(0, -"/v1".length),
          path_prefix: "/v1",
          credential: { env: "TEST_MODEL_KEY" },
        },
      ],
      catalog: [
        { id: "meta-llama/Llama-3.1-8B-Instruct", context_window: 32_768, prices: { USD } },
        {
          id: "local/llama3.2:latest",
          aliases: ["llama3.2:latest"],
          upstream_model: "llama3.2:latest",
          prices: { USD },
        },
        { id: "local/qwen.gguf", upstream_model: "/models/qwen.gguf", context_window: 4096, prices: { USD } },
        { id: "local/nomic-embed-text", capabilities: ["embeddings"], prices: { USD: { input: "0" } } },
      ],
    });
    const checked = await callCli(["config", "check", "--config", "gateway.yaml"], {
      cwd: folder,
      env: { TEST_MODEL_KEY: KEY },
    });
    expect(checked).toMatchObject({ code: 0, stderr: "" });
    expect(
      (await callCli(["key", "list", "--json"], { cwd: folder, env: { TEST_MODEL_KEY: KEY } })).code,
    ).toBe(0);
  });

  it("knows Ollama by its list, and asks it for windows and capabilities", async () => {
    const list = ["llama3.2:latest", "nomic", "gone"].map((id) => ({
      id,
      object: "model",
      owned_by: "library",
    }));
    const shown = {
      "llama3.2:latest": {
        model_info: { "general.architecture": "llama", "llama.context_length": 131_072 },
        capabilities: ["completion", "tools", "thinking"],
      },
      nomic: { model_info: { "nomic.context_length": 2_048 }, capabilities: ["embedding"] },
    };
    const server = await startModelServer({ data: list }, { shown });
    expect(await writeFirst(server)).toMatchObject({
      upstreams: [{ server: "ollama" }],
      catalog: [
        { upstream_model: "llama3.2:latest", context_window: 131_072, capabilities: ["tools", "reasoning"] },
        { upstream_model: "nomic", context_window: 2_048, capabilities: ["embeddings"] },
        { upstream_model: "gone", context_window: 131_072 },
      ],
    });
  });

  it("waits for llama.cpp to load its model, and takes the window that it was started with", async () => {
    const data = [{ id: "tiny.gguf", owned_by: "llamacpp", meta: { n_ctx: 4_096, n_ctx_train: 131_072 } }];
    const server = await startModelServer({ data }, { loadingAnswers: 2 });
    expect(await writeFirst(server)).toMatchObject({
      upstreams: [{ server: "llama.cpp" }],
      catalog: [{ upstream_model: "tiny.gguf", context_window: 4_096 }],
    });
  });

  it("writes over no file that is there", async () => {
    const { url } = await startModelServer(MODELS);
    const folder = createTestFolder();
    writeFileSync(join(folder, "gateway.yaml"), "mine\n");
    const { code, stdout, stderr } = await runCli(["up", "--upstream", url], { cwd: folder });
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(
      /^gateway\.yaml already exists and isn't overwritten\. Start with `--config gateway\.yaml`.*\n$/u,
    );
    expect(readFileSync(join(folder, "gateway.yaml"), "utf8")).toBe("mine\n");
  });

  it.each([
    {
      name: "needs a key",
      list: MODELS,
      options: { key: KEY },
      says: /returned 401, so it needs a key\. .*`--upstream-key-env NAME`\.$/u,
    },
    {
      name: "refuses the key",
      list: MODELS,
      options: { key: KEY },
      more: ["--upstream-key-env", "WRONG_KEY"],
      says: /returned 401: it rejects the key in the environment variable WRONG_KEY\.$/u,
    },
    {
      name: "is to be given a key that is not set",
      list: MODELS,
      more: ["--upstream-key-env", "UNSET_KEY"],
      says: /^The environment variable UNSET_KEY of `--upstream-key-env` is not set\.$/u,
    },
    {
      name: "has no models",
      list: { object: "list", data: [] },
      says: /lists no models: load a model on that server/u,
    },
    { name: "does not speak JSON", list: "<html>", says: /didn't return JSON: /u },
    {
      name: "lists something else",
      list: { models: 3 },
      says: /returned JSON without a list of models: /u,
    },
    {
      name: "has no such path",
      list: {},
      options: { status: 404 },
      says: /returned 404: pass the base URL .* ends in \/v1\.$/u,
    },
    { name: "breaks", list: {}, options: { status: 500 }, says: /returned 500, not its models\.$/u },
    {
      name: "has strange names alone",
      list: [{ id: "///" }],
      says: /lists no model with a usable name\. /u,
    },
  ])(
    "says in a sentence that the server $name, and writes nothing",
    async ({ list, options = {}, more = [], says }) => {
      const { url } = await startModelServer(list, options);
      const { last, rest } = await refuse(["--upstream", url, ...more]);
      expect(last).toMatch(says);
      expect(rest).toEqual(REFUSED);
    },
  );

  it.each([
    ["nobody", /doesn't respond \(connect ECONNREFUSED .*\): is the model server running there\?$/u],
    ["no URL", /^`--upstream` expects the base URL of an OpenAI API, such as/u],
    ["a URL with a key", /without user and password\. Pass a key with `--upstream-key-env`\.$/u],
  ])("says in a sentence that %s is there, and writes nothing", async (what, says) => {
    const port = await findFreePort();
    const url = { nobody: `http://127.0.0.1:${port}/v1`, "no URL": "localhost" }[what];
    const { last, rest } = await refuse(["--upstream", url ?? `http://me:secret@127.0.0.1:${port}/v1`]);
    expect(last).toMatch(says);
    expect(rest).toEqual(REFUSED);
  });
});

/** The last line that it says, and all else that a refusal must be. */
async function refuse(args: readonly string[]): Promise<{ last: string; rest: object }> {
  const folder = createTestFolder();
  const env = { WRONG_KEY: "sk-wrong", UNSET_KEY: "" };
  const { code, stdout, stderr } = await callCli(["up", ...args], { cwd: folder, env });
  const isWritten = existsSync(join(folder, "gateway.yaml"));
  const leaks = /sk-wrong|secret|^ {4}at /mu.test(stderr);
  return { last: stderr.trimEnd().split("\n").at(-1) ?? "", rest: { code, stdout, leaks, isWritten } };
}
