/** Real clients before an upstream that speaks their own protocol: what they send reaches it, what it sends reaches them. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { withSharedChatStack } from "../support/chat-stack.ts";
import { ensureClaudeCode, runClaude } from "../support/claude-code.ts";
import { ensureCodex, openCodex } from "../support/codex.ts";
import { catalogEntry, CHAT_MODEL, CHAT_UPSTREAM_MODEL } from "../support/gateway-config.ts";
import { messagesStream, namedEvent, responsesStream } from "../support/native-exchange.ts";
import type { ScriptedAnswer } from "../support/scripted-answer.ts";
import type { RecordedRequest } from "../support/upstream.ts";
import { PYTHON_SDKS, withPythonSdk } from "./anthropic-python-sdks.ts";
import { messageParams, SDKS, textOf } from "./anthropic-sdks.ts";
import { CLIENTS } from "./clients.ts";
import { createOpenAi, OPENAI_SDKS } from "./openai-sdks.ts";
import { proves } from "./proofs.ts";

/** As `CHAT_MODEL`, with a price for the search that Codex offers it. */
const SEARCHING_MODEL = "acme/searching";
const chat = withSharedChatStack([
  catalogEntry({ upstream: "native" }),
  catalogEntry({
    id: SEARCHING_MODEL,
    upstream: "native",
    prices: { USD: { input: "1", output: "1", server_tools: { web_search: "10.00" } } },
  }),
]);

const stream = (text: string): ScriptedAnswer => ({
  kind: "bytes",
  headers: { "content-type": "text/event-stream" },
  pieces: [text],
});

const MESSAGE = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: CHAT_UPSTREAM_MODEL,
  content: [{ type: "text", text: "Hello there." }],
  stop_reason: "end_turn",
  stop_sequence: null,
  usage: { input_tokens: 10, cache_read_input_tokens: 5, output_tokens: 20 },
};
const CACHED = [{ type: "text" as const, text: "Be brief.", cache_control: { type: "ephemeral" as const } }];

/** A message that streams one block. */
function blockStream(block: object, delta: object, stopReason: string): string {
  const message = { ...MESSAGE, content: [], stop_reason: null };
  return [
    namedEvent("message_start", { message }),
    namedEvent("content_block_start", { index: 0, content_block: block }),
    namedEvent("content_block_delta", { index: 0, delta }),
    namedEvent("content_block_stop", { index: 0 }),
    namedEvent("message_delta", {
      delta: { stop_reason: stopReason, stop_sequence: null },
      usage: { output_tokens: 20 },
    }),
    namedEvent("message_stop"),
  ].join("");
}

const textStream = (text: string) =>
  blockStream({ type: "text", text: "" }, { type: "text_delta", text }, "end_turn");

describe.each(SDKS)("$name before an upstream that speaks messages", (sdk) => {
  proves(sdk.proven, "/v1/messages");
  const client = () => sdk.createClient({ baseURL: chat.stack.baseUrl, apiKey: chat.key.key });

  it("has its cache marks and its version reach the upstream, and reads the cache's usage", async () => {
    chat.upstream.answer({ kind: "json", body: MESSAGE });
    const message = await client().messages.create({ ...messageParams(), system: CACHED });
    expect(message).toMatchObject({ model: CHAT_MODEL, usage: { cache_read_input_tokens: 5 } });
    expect(textOf(message)).toBe("Hello there.");
    const { body, headers } = chat.upstream.lastRequest;
    expect(body).toMatchObject({ model: CHAT_UPSTREAM_MODEL, system: CACHED });
    expect(headers["anthropic-version"]).toBe(sdk.apiVersion);
    expect(JSON.stringify(headers)).not.toMatch(/x-api-key|stainless|sk-igw/u);
  });

  it("puts a stream with thinking, pings and events of tomorrow together", async () => {
    chat.upstream.answer(stream(messagesStream(CHAT_UPSTREAM_MODEL)));
    const message = await client().messages.stream(messageParams()).finalMessage();
    expect(message).toMatchObject({
      model: CHAT_MODEL,
      content: [
        { type: "thinking", thinking: "Hm", signature: "c2ln" },
        { type: "text", text: "Grüße 👋" },
      ],
      usage: { output_tokens: 20 },
    });
  });
});

describe.each(PYTHON_SDKS)("$name before an upstream that speaks messages", (sdk) => {
  proves(sdk.proven, "/v1/messages");
  const call = withPythonSdk(chat, sdk);

  it("reads a message, and a stream", async () => {
    chat.upstream.answer({ kind: "json", body: MESSAGE });
    expect(await call("message", { system: CACHED })).toMatchObject({ content: [{ text: "Hello there." }] });
    expect(chat.upstream.lastRequest.body).toMatchObject({ system: CACHED });
    chat.upstream.answer(stream(textStream("Streamed.")));
    expect(await call("final_message")).toMatchObject({ content: [{ text: "Streamed." }] });
  });
});

describe.each(OPENAI_SDKS)("$name before an upstream that speaks responses", (sdk) => {
  proves(sdk.proven, "/v1/responses");
  const client = () => createOpenAi(sdk, chat);

  it("reads a stream to its final response, whose usage is the upstream's", async () => {
    chat.upstream.answer(stream(responsesStream(CHAT_UPSTREAM_MODEL)));
    const events = [];
    const request = { model: CHAT_MODEL, input: "hi", stream: true, store: false } as const;
    for await (const event of await client().responses.create(request)) events.push(event);
    expect(events.at(-1)).toMatchObject({
      type: "response.completed",
      response: { model: CHAT_MODEL, usage: { total_tokens: 42 } },
    });
    expect(chat.upstream.lastRequest.body).toEqual({ ...request, model: CHAT_UPSTREAM_MODEL });
  });
});

const claude = await ensureClaudeCode();

describe.skipIf(claude.missing !== null)(
  `Claude Code before an upstream that speaks messages${claude.missing === null ? "" : ` (skipped: ${claude.missing})`}`,
  () => {
    proves(CLIENTS.claudeCode, "/v1/messages");

    it("runs a command and answers, with its cache marks and betas at the upstream", async () => {
      const input = { command: "echo blue > a.txt", description: "write" };
      const use = { type: "tool_use", id: "toolu_1", name: "Bash", input: {} };
      const delta = { type: "input_json_delta", partial_json: JSON.stringify(input) };
      chat.upstream.answer((request: RecordedRequest) =>
        request.bodyBytes.includes('"tool_result"')
          ? stream(textStream("It says blue."))
          : stream(blockStream(use, delta, "tool_use")),
      );
      const run = await runClaude({
        program: claude.path ?? "",
        baseUrl: chat.stack.baseUrl,
        apiKey: chat.key.key,
        model: CHAT_MODEL,
        prompt: "Write blue to a.txt.",
        args: ["--allowedTools", "Bash"],
      });
      onTestFinished(() => run.cleanUp());
      expect(run.result).toMatchObject({ is_error: false, result: "It says blue." });
      expect(await readFile(join(run.dir, "a.txt"), "utf8")).toBe("blue\n");
      const { path, headers, bodyBytes } = chat.upstream.lastRequest;
      expect(path).toBe("/v1/messages?beta=true");
      expect(headers["anthropic-beta"]).toContain("claude-code-");
      expect(bodyBytes.toString()).toContain('"cache_control":{"type":"ephemeral"');
    });
  },
);

const codex = await ensureCodex();

describe.skipIf(codex.missing !== null)(
  `Codex before an upstream that speaks responses${codex.missing === null ? "" : ` (skipped: ${codex.missing})`}`,
  () => {
    proves(CLIENTS.codex, "/v1/responses");

    const sayHello = async (model: string, settings: readonly string[] = []) => {
      chat.upstream.answer(stream(responsesStream(CHAT_UPSTREAM_MODEL)));
      const session = await openCodex({
        program: codex.path ?? "",
        baseUrl: chat.stack.baseUrl,
        apiKey: chat.key.key,
        model,
        settings,
      });
      onTestFinished(() => session.cleanUp());
      return session.run("Say hello.");
    };

    it("shows the setting that its own search needs at a model that has no price for it", async () => {
      const { exitCode, errors } = await sayHello(CHAT_MODEL);
      expect(exitCode).not.toBe(0);
      expect(errors.join()).toContain("the tool `web_search` runs at the model server");
      expect(errors.join()).toContain("`server_tools`");
      expect(chat.upstream.requests).toEqual([]);
    });

    it("answers without that price once its own search is turned off", async () => {
      const run = await sayHello(CHAT_MODEL, ['web_search = "disabled"']);
      expect(run).toMatchObject({ answer: "Grüße 👋", errors: [], exitCode: 0 });
    });

    it("answers a prompt, and tells the upstream nothing about its user", async () => {
      const run = await sayHello(SEARCHING_MODEL);
      expect(run).toMatchObject({ answer: "Grüße 👋", errors: [], exitCode: 0 });
      const { body, headers, path } = chat.upstream.lastRequest;
      expect(path).toBe("/v1/responses");
      expect(body).toMatchObject({ model: CHAT_UPSTREAM_MODEL, stream: true });
      expect(JSON.stringify(body?.["tools"])).toContain('"type":"web_search"');
      expect(Object.keys(body ?? {})).not.toContain("client_metadata");
      expect(
        Object.keys(headers).filter((name) => /codex|openai|session|thread|originator/u.test(name)),
      ).toEqual([]);
    });
  },
);
