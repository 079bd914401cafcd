import { describe, expect, it } from "vitest";
import { withSharedChatStack, chatBody } from "../support/chat-stack.ts";
import { CHAT_MODEL, CHAT_UPSTREAM_MODEL } from "../support/gateway-config.ts";
import { MESSAGES_PATH, messagesBody } from "./metering-figures.ts";
import {
  COUNT_TOKENS_PATH,
  describeMessagesAnswer,
  sendMessages,
  readMessageStream,
  streamedText,
} from "./messages-checks.ts";
import { finishChunk, type ScriptedAnswer, textChunk, textCompletion } from "../support/scripted-answer.ts";

const chat = withSharedChatStack();

describe("the messages route", () => {
  it("answers in the Anthropic shape and asks the upstream in the OpenAI shape", async () => {
    const answer = await sendMessages(chat, { body: messagesBody({ system: "Be brief." }) });
    expect(describeMessagesAnswer(answer)).toBe("200");
    expect(answer.headers["content-type"]).toBe("application/json");
    expect(answer.json()).toEqual({
      id: expect.stringMatching(/^msg_[\dA-Za-z]{24}$/u) as string,
      type: "message",
      role: "assistant",
      model: CHAT_MODEL,
      content: [{ type: "text", text: "hello big world" }],
      stop_reason: "end_turn",
      stop_sequence: null,
      stop_details: null,
      container: null,
      diagnostics: null,
      usage: {
        input_tokens: 5,
        output_tokens: 3,
        cache_read_input_tokens: 0,
        cache_creation_input_tokens: 0,
        cache_creation: null,
        output_tokens_details: null,
        server_tool_use: null,
        service_tier: null,
        speed: null,
        inference_geo: null,
      },
    });
    expect(chat.upstream.lastRequest.path).toBe("/v1/chat/completions");
    expect(chat.upstream.lastRequest.body).toEqual({
      model: CHAT_UPSTREAM_MODEL,
      max_tokens: 1_000,
      max_completion_tokens: 1_000,
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "hello big world" },
      ],
    });
  });

  it.each([
    { name: "no version", headers: {} },
    { name: "the first version", headers: { "anthropic-version": "2023-06-01" } },
    { name: "the newest version", headers: { "anthropic-version": "2026-10-21" } },
    { name: "a version that nobody knows", headers: { "anthropic-version": "tomorrow" } },
    { name: "betas", headers: { "anthropic-version": "2023-06-01", "anthropic-beta": "a-2025-01-01,b" } },
    {
      name: "betas in several lines",
      headers: { "anthropic-beta": ["a-2025-01-01", "interleaved-thinking-2025-05-14"] },
    },
    { name: "?beta=true", path: `${MESSAGES_PATH}?beta=true`, headers: {} },
    {
      name: "what browsers add",
      headers: { "anthropic-dangerous-direct-browser-access": "true", "x-stainless-timeout": "NOT_GIVEN" },
    },
  ])(
    "[headers.version] takes $name, and the upstream sees none of it",
    async ({ path = MESSAGES_PATH, headers }) => {
      const answer = await sendMessages(chat, { path, headers, body: messagesBody() });
      expect(describeMessagesAnswer(answer)).toBe("200");
      const { headers: sent, path: sentPath } = chat.upstream.lastRequest;
      expect(sentPath).toBe("/v1/chat/completions");
      expect(Object.keys(sent).filter((name) => /anthropic|stainless|api-key/u.test(name))).toEqual([]);
    },
  );

  it.each([
    { name: "Authorization: Bearer", headers: () => ({ authorization: `Bearer ${chat.key.key}` }) },
    { name: "x-api-key", headers: () => ({ "x-api-key": chat.key.key }) },
    {
      name: "both, one of them no key of ours",
      headers: () => ({ authorization: "Bearer sk-ant-placeholder", "x-api-key": chat.key.key }),
    },
  ])("[headers.key] takes the key in $name", async ({ headers }) => {
    const answer = await sendMessages(chat, { key: null, headers: headers(), body: messagesBody() });
    expect(describeMessagesAnswer(answer)).toBe("200");
  });

  it("[headers.rate] tells the bucket in Anthropic's headers and in its own", async () => {
    const { key } = await chat.stack.createKey({ requestsPerMinute: 60 });
    const { headers } = await sendMessages(chat, { key, body: messagesBody() });
    expect(headers).toMatchObject({
      "x-service-ratelimit-remaining": "9",
      "anthropic-ratelimit-requests-limit": "60",
      "anthropic-ratelimit-requests-remaining": "9",
      "anthropic-ratelimit-requests-reset": expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/u) as string,
    });
    expect(Object.keys(headers).filter((name) => name.startsWith("x-ratelimit"))).toEqual([]);
    const counted = await sendMessages(chat, { key, path: COUNT_TOKENS_PATH, body: messagesBody() });
    expect(counted.status).toBe(200);
    expect(Number(counted.headers["x-service-ratelimit-remaining"])).toBeGreaterThanOrEqual(9);
  });
});

const USAGE = { promptTokens: 3, cachedTokens: 0, completionTokens: 2 };
const BIG = "12345678901234567890";

function callsChunk(...calls: object[]): object {
  return textChunk("", { choices: [{ index: 0, delta: { tool_calls: calls } }] });
}

/** The JSON of each tool call in a stream of events, by its name. */
function readInputs(events: readonly { readonly data: Record<string, unknown> }[]): Record<string, string> {
  const inputs: Record<string, string> = {};
  let open = "";
  for (const { data } of events) {
    const block = data["content_block"] as { name?: string } | undefined;
    if (block?.name !== undefined) inputs[(open = block.name)] = "";
    const { partial_json } = (data["delta"] ?? {}) as { partial_json?: string };
    if (partial_json !== undefined) inputs[open] += partial_json;
  }
  return inputs;
}

describe("the messages route is exact", () => {
  it("[tools.exact_integers] keeps integers beyond 2^53 in schemas, history and arguments", async () => {
    const schema = `{"type":"object","properties":{"id":{"const":${BIG}}}}`;
    const history = `{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{"id":${BIG}}}]}`;
    const result = '{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"ok"}]}';
    const body =
      `{"model":"${CHAT_MODEL}","max_tokens":9,"tools":[{"name":"f","input_schema":${schema}}],` +
      `"messages":[{"role":"user","content":"a"},${history},${result}]}`;
    const message = {
      role: "assistant",
      tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: `{"id":${BIG}}` } }],
    };
    const choices = [{ index: 0, message, finish_reason: "tool_calls" }];
    chat.upstream.answer({ kind: "json", body: textCompletion("", USAGE, { choices }) });
    const answer = await sendMessages(chat, { body });
    expect(describeMessagesAnswer(answer)).toBe("200");
    expect(answer.text).toContain(`"input":{"id":${BIG}}`);
    const sent = chat.upstream.lastRequest.bodyBytes.toString();
    expect(sent).toContain(`"parameters":${schema}`);
    expect(sent).toContain(`"arguments":${JSON.stringify(`{"id":${BIG}}`)}`);
  });

  it("gives each call its own arguments, whatever a server numbers", async () => {
    const streams: Record<string, object[]> = {
      together: [
        callsChunk(
          { function: { name: "f", arguments: '{"x"' } },
          { function: { name: "g", arguments: '{"y"' } },
        ),
        callsChunk({ function: { arguments: ":1}" } }, { function: { arguments: ":2}" } }),
      ],
      adrift: [
        callsChunk({ index: 0, id: "a", function: { name: "f" } }),
        callsChunk({ index: 1, function: { arguments: '{"x"' } }),
        callsChunk({ index: 2, function: { arguments: ":1}" } }),
        callsChunk({ index: 3, id: "b", function: { name: "g" } }),
        callsChunk({ index: 4, function: { arguments: '{"y":2}' } }),
      ],
    };
    for (const events of Object.values(streams)) {
      chat.upstream.answer({ kind: "events", events: [...events, finishChunk("tool_calls")] });
      const answer = await sendMessages(chat, { body: messagesBody({ stream: true }) });
      expect(readInputs(readMessageStream(answer, "message_stop"))).toEqual({ f: '{"x":1}', g: '{"y":2}' });
    }
  });

  it("[blocks.container_upload] names the type that it refuses", async () => {
    const content = [{ type: "container_upload", file_id: "file_1" }];
    const answer = await sendMessages(chat, {
      body: messagesBody({ messages: [{ role: "user", content }] }),
    });
    expect([answer.status, answer.json()["error"]]).toMatchObject([400, { code: "unsupported_parameter" }]);
    expect(answer.text).toContain("'container_upload'");
  });

  it.each([201, 206, 299])(
    "[response.status] answers 200 where an upstream says %d, on every route",
    async (status) => {
      const whole: ScriptedAnswer = { kind: "json", status, body: textCompletion("made", USAGE) };
      const streamed: ScriptedAnswer = { kind: "events", status, events: [textChunk("made"), finishChunk()] };
      chat.upstream.answer(whole);
      expect((await sendMessages(chat, { body: messagesBody() })).status).toBe(200);
      const answer = await chat.send({ body: chatBody() });
      expect([answer.status, answer.text.includes("made")]).toEqual([200, true]);
      chat.upstream.answer(streamed);
      const events = readMessageStream(
        await sendMessages(chat, { body: messagesBody({ stream: true }) }),
        "message_stop",
      );
      expect(streamedText(events)).toBe("made");
      const chunks = await chat.send({ body: chatBody({ stream: true }) });
      expect([chunks.status, chunks.text.includes("made")]).toEqual([200, true]);
    },
  );
});
