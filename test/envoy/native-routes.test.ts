/** Messages and responses before an upstream that speaks them itself: what goes there, what comes back, what it costs. */
import { describe, expect, it } from "vitest";
import { packSummary } from "../../src/data-path/translation/conversation/compaction.ts";
import { CHAT_PATH, chatBody, withSharedChatStack } from "../support/chat-stack.ts";
import { catalogEntry, CHAT_UPSTREAM_MODEL } from "../support/gateway-config.ts";
import { readError } from "../support/http.ts";
import { messagesStream, namedEvent, responsesStream } from "../support/native-exchange.ts";
import { readRequest, readSpend } from "./metering-figures.ts";
import { monthLimits } from "../support/month-limits.ts";

const NATIVE_MODEL = "acme/native";
const BOTH_MODEL = "acme/both";
/** Microcents a token: 100 for input, 10 from the cache, 125 and 200 to write to it, 400 for output. */
const PRICES = {
  USD: {
    input: "1",
    cached_input: "0.1",
    cache_write: "1.25",
    cache_write_1h: "2",
    output: "4",
    server_tools: { web_search: { unpriced: true } },
  },
};
/** What `messagesStream` comes to: 10 of input, 5 cached, 4 and 3 written, 20 of output. */
const MESSAGE_COST = 10n * 100n + 5n * 10n + 4n * 125n + 3n * 200n + 20n * 400n;

const SIZE = { context_window: 10_000, max_output_tokens: 1_000 };
const chat = withSharedChatStack([
  catalogEntry({ id: NATIVE_MODEL, upstream: "native", prices: PRICES, ...SIZE }),
  catalogEntry({ id: BOTH_MODEL, upstream: "native", protocols: ["chat", "messages"] }),
]);

/** With white space, numbers and fields that nobody would write again so. */
const MESSAGES_TEXT = `{ "max_tokens": 1e2, "model":"${NATIVE_MODEL}", "stream":false,
  "system":[{"type":"text","text":"Grüße","cache_control":{"type":"ephemeral","ttl":"1h"}}],
  "messages":[{"role":"user","content":[{"type":"text","text":"Hi \\u00e9"}]},
    {"role":"assistant","content":[{"type":"thinking","thinking":"","signature":"c2ln"}]}],
  "tools":[{"type":"web_search_20260101","name":"web_search"}], "id":12345678901234567890, "tomorrow":[1.50] }`;
const MESSAGE = `{"id":"msg_1", "type":"message","role":"assistant","model":"${CHAT_UPSTREAM_MODEL}",
  "content":[{"type":"text","text":"Hi","citations":null},{"type":"of_tomorrow","n":1.50}],"stop_reason":"end_turn",
  "usage":{"input_tokens":10,"cache_read_input_tokens":5,"cache_creation_input_tokens":7,"output_tokens":20,
    "cache_creation":{"ephemeral_5m_input_tokens":4,"ephemeral_1h_input_tokens":3}}}`;
const BETA = {
  "anthropic-version": "2026-10-21",
  "anthropic-beta": "effort-2025-11-24,x",
  "anthropic-dangerous-direct-browser-access": "true",
  "anthropic-workspace-id": "ws_1",
};
const MESSAGES_PATH = "/v1/messages?beta=true&key=secret";

const json = (text: string) =>
  ({ kind: "bytes", headers: { "content-type": "application/json" }, pieces: [text] }) as const;
const stream = (text: string) =>
  ({ kind: "bytes", headers: { "content-type": "text/event-stream" }, pieces: [text] }) as const;
const messages = (fields: object = {}) => ({
  model: NATIVE_MODEL,
  max_tokens: 100,
  messages: [{ role: "user", content: "hello" }],
  ...fields,
});
const responses = (fields: object = {}) => ({ model: NATIVE_MODEL, input: "hello", ...fields });

describe("a messages request to an upstream that speaks messages", () => {
  const sendText = () => {
    chat.upstream.answer(json(MESSAGE));
    const headers = { "content-type": "application/json", ...BETA };
    return chat.send({ path: MESSAGES_PATH, body: MESSAGES_TEXT, headers });
  };

  it("[native.request] reaches it byte for byte but for the model's name", async () => {
    await sendText();
    const expected = MESSAGES_TEXT.replace(NATIVE_MODEL, CHAT_UPSTREAM_MODEL);
    expect(chat.upstream.lastRequest.bodyBytes.toString()).toBe(expected);
  });

  it.each([
    {
      rule: "native.own_thinking",
      path: "/v1/messages",
      body: (own: boolean) => {
        const blocks = [
          { type: "thinking", thinking: "T", signature: "gw.GF59wG" },
          { type: "text", text: "x" },
        ];
        return messages({
          messages: [
            { role: "user", content: "hello" },
            { role: "assistant", content: own ? blocks : blocks.slice(1) },
            { role: "user", content: "go on" },
          ],
        });
      },
    },
    {
      rule: "responses.native.own_reasoning",
      path: "/v1/responses",
      body: (own: boolean) => {
        const item = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "gw1.eAFLSU0tUCj" };
        return responses({ input: [...(own ? [item] : []), { role: "user", content: "go on" }] });
      },
    },
  ])(
    "[$rule] reaches it without what this gateway has signed, also to be counted",
    async ({ path, body }) => {
      const counted = path === "/v1/messages" ? `${path}/count_tokens` : `${path}/input_tokens`;
      for (const asked of [path, counted]) {
        await chat.send({ path: asked, body: body(true) });
        expect(chat.upstream.lastRequest.path).toContain(asked);
        const { max_tokens: _limit, ...kept } = { max_tokens: null, ...body(false) };
        expect(chat.upstream.lastRequest.body).toMatchObject({ ...kept, model: CHAT_UPSTREAM_MODEL });
        expect(chat.upstream.lastRequest.bodyBytes.toString()).not.toMatch(/gw1?\./u);
      }
    },
  );

  it("[native.headers] reaches it with the protocol's version, its betas and `beta=true`, and nothing else", async () => {
    await sendText();
    const { path, headers } = chat.upstream.lastRequest;
    expect(path).toBe("/v1/messages?beta=true");
    const kept = Object.entries(headers).filter(([name]) => name.startsWith("anthropic-"));
    expect(Object.fromEntries(kept)).toEqual({
      "anthropic-version": "2026-10-21",
      "anthropic-beta": "effort-2025-11-24,x",
    });
  });

  it("[native.answer] is answered byte for byte but for the model's name", async () => {
    const { status, text } = await sendText();
    expect(status).toBe(200);
    expect(text).toBe(MESSAGE.replace(`"${CHAT_UPSTREAM_MODEL}"`, `"${NATIVE_MODEL}"`));
  });

  it.each([
    { form: "a JSON answer", script: json(MESSAGE), body: messages() },
    {
      form: "a stream",
      script: stream(messagesStream(CHAT_UPSTREAM_MODEL)),
      body: messages({ stream: true }),
    },
  ])("[native.usage] costs what the upstream's usage says, with $form", async ({ script, body }) => {
    const key = await chat.stack.createKey();
    chat.upstream.answer(script);
    const answer = await chat.send({ path: MESSAGES_PATH, body, key: key.key });
    expect(await readSpend(chat.stack, key)).toEqual({ key: MESSAGE_COST, organization: MESSAGE_COST });
    const row = await readRequest(chat.stack, key, answer);
    expect(row).toMatchObject({ estimated: false, cached_input_tokens: 5, output_tokens: 20 });
  });

  it("[native.usage] costs its compactions, too, which stand beside its own figures", async () => {
    const key = await chat.stack.createKey();
    const compaction = '{"type":"compaction","input_tokens":1000,"output_tokens":50}';
    chat.upstream.answer(json(MESSAGE.replace('"usage":{', `"usage":{"iterations":[${compaction}],`)));
    await chat.send({ path: MESSAGES_PATH, body: messages(), key: key.key });
    expect((await readSpend(chat.stack, key)).key).toBe(MESSAGE_COST + 1_000n * 100n + 50n * 400n);
  });

  it("[native.stream] is streamed byte for byte but for the model's name: pings, comments and unknown events too", async () => {
    chat.upstream.answer(stream(messagesStream(CHAT_UPSTREAM_MODEL)));
    const { text, headers } = await chat.send({ path: MESSAGES_PATH, body: messages({ stream: true }) });
    const [before, after] = messagesStream(CHAT_UPSTREAM_MODEL).split("event: thing_of_tomorrow");
    expect(text).toBe(
      `${before?.replace(`"${CHAT_UPSTREAM_MODEL}"`, `"${NATIVE_MODEL}"`)}event: thing_of_tomorrow${after}`,
    );
    expect(headers["content-type"]).toBe("text/event-stream");
  });

  it("[native.stream_errors] passes an error in mid-stream on as it is, and charges what was generated", async () => {
    const key = await chat.stack.createKey();
    const whole = messagesStream(CHAT_UPSTREAM_MODEL);
    const error = namedEvent("error", { error: { type: "overloaded_error", message: "Overloaded" } });
    const begun = whole.slice(0, whole.indexOf("event: message_delta"));
    chat.upstream.answer(stream(begun + error));
    const answer = await chat.send({ path: MESSAGES_PATH, body: messages({ stream: true }), key: key.key });
    expect(answer.text.endsWith(error)).toBe(true);
    const row = await readRequest(chat.stack, key, answer);
    expect(row).toMatchObject({ error_code: "model_overloaded", estimated: true });
    expect(row.output_tokens).toBeGreaterThan(1);
  });

  it("[native.broken_stream] tells an upstream that broke off with an error event, and charges what was generated", async () => {
    const key = await chat.stack.createKey();
    const whole = messagesStream(CHAT_UPSTREAM_MODEL);
    chat.upstream.answer(stream(whole.slice(0, whole.indexOf("event: message_delta"))));
    const answer = await chat.send({ path: MESSAGES_PATH, body: messages({ stream: true }), key: key.key });
    expect(answer.text).toMatch(/event: error\ndata: \{"type":"error".*"code":"upstream_error".*\n\n$/);
    expect((await readRequest(chat.stack, key, answer)).output_tokens).toBeGreaterThan(1);
  });

  it.each([
    [401, "authentication_error", 502, "upstream_authentication_failed"],
    [429, "rate_limit_error", 529, "model_overloaded"],
    [529, "overloaded_error", 529, "model_overloaded"],
    [404, "not_found_error", 502, "upstream_model_not_found"],
  ])(
    "[native.http_errors] maps a %d of the upstream, and tells nothing of its own credential",
    async (given, type, status, code) => {
      const body = { type: "error", error: { type, message: "key sk-ant-secret is wrong" } };
      chat.upstream.answer({ kind: "json", status: given, body });
      const answer = await chat.send({ path: MESSAGES_PATH, body: messages() });
      expect([answer.status, readError(answer).code]).toEqual([status, code]);
      expect(answer.text).not.toContain("sk-ant-secret");
    },
  );

  it("[native.http_errors] tells nothing of a balance that the upstream calls an error of the request", async () => {
    const error = { type: "invalid_request_error", message: "Your credit balance is too low" };
    chat.upstream.answer({ kind: "json", status: 400, body: { type: "error", error } });
    for (const model of [NATIVE_MODEL, BOTH_MODEL]) {
      const path = model === NATIVE_MODEL ? MESSAGES_PATH : CHAT_PATH;
      const answer = await chat.send({ path, body: { ...messages(), model } });
      expect([answer.status, readError(answer).code]).toEqual([502, "upstream_authentication_failed"]);
      expect(answer.text).not.toContain("credit");
    }
  });

  it("passes the upstream's words about the request itself on", async () => {
    const error = { type: "invalid_request_error", message: "messages.0: bad" };
    chat.upstream.answer({ kind: "json", status: 400, body: { type: "error", error } });
    const answer = await chat.send({ path: MESSAGES_PATH, body: messages() });
    expect(answer.status).toBe(400);
    expect(readError(answer)).toMatchObject({ type: "invalid_request_error", message: "messages.0: bad" });
  });
});

describe("strict caps before an upstream that speaks messages", () => {
  /** The context window costs 1 cent at the price of writing to a cache for an hour, 20 tokens of output nearly nothing. */
  it("[native.strict_caps] hold the whole context window for content by URL, and less for text", async () => {
    const key = await chat.stack.createKey({ limits: monthLimits({ cap: 1 }) }, { strictCaps: true });
    const image = { type: "image", source: { type: "url", url: "https://a.b/c.png" } };
    const send = (content: unknown) => {
      const body = messages({ max_tokens: 20, messages: [{ role: "user", content }] });
      return chat.send({ path: MESSAGES_PATH, body, key: key.key });
    };
    chat.upstream.answer(json(MESSAGE));
    expect((await send([image])).status).toBe(402);
    expect((await send([{ type: "text", text: "hello" }])).status).toBe(200);
  });

  it("[native.strict_caps] let the context be cleared, and refuse what has the model write a summary of it", async () => {
    const key = await chat.stack.createKey({}, { strictCaps: true });
    chat.upstream.answer(json(MESSAGE));
    const send = (type: string) => {
      const body = messages({ context_management: { edits: [{ type }] } });
      return chat.send({ path: MESSAGES_PATH, body, key: key.key });
    };
    expect((await send("clear_thinking_20251015")).status).toBe(200);
    const refused = await send("compact_20260112");
    expect(refused.status).toBe(400);
    expect(readError(refused)).toMatchObject({ param: "context_management.edits.0" });
    expect(chat.upstream.requests).toHaveLength(1);
  });

  it("[native.strict_caps] refuse tools that run at the server without a bound, which are taken without them", async () => {
    const key = await chat.stack.createKey({}, { strictCaps: true });
    const tools = [{ type: "web_search_20260101", name: "web_search" }];
    const answer = await chat.send({ path: MESSAGES_PATH, body: messages({ tools }), key: key.key });
    expect(answer.status).toBe(400);
    expect(readError(answer)).toMatchObject({ code: "unsupported_parameter", param: "tools.0.max_uses" });
    expect(chat.upstream.requests).toEqual([]);
  });
});

describe("an endpoint that a model's upstream does not speak", () => {
  it("[native.chat] is refused with the endpoints that the model has", async () => {
    const answer = await chat.send({ body: { ...chatBody(), model: NATIVE_MODEL } });
    expect(answer.status).toBe(400);
    expect(readError(answer)).toMatchObject({
      code: "endpoint_not_available_for_model",
      param: "model",
      message: `The model \`${NATIVE_MODEL}\` isn't available at this endpoint. It is available at \`POST /v1/messages\` and \`POST /v1/responses\`.`,
    });
  });

  it("[native.chat] goes to chat completions where the upstream speaks those too", async () => {
    expect((await chat.send({ body: { ...chatBody(), model: BOTH_MODEL } })).status).toBe(200);
    expect(chat.upstream.lastRequest.path).toBe(CHAT_PATH);
    const answer = await chat.send({ path: "/v1/responses", body: { model: BOTH_MODEL, input: "hello" } });
    expect(answer.json()).toMatchObject({ object: "response", status: "completed" });
    expect(chat.upstream.lastRequest.path).toBe(CHAT_PATH);
    chat.upstream.answer(json(MESSAGE));
    await chat.send({ path: "/v1/messages", body: { ...messages(), model: BOTH_MODEL } });
    expect(chat.upstream.lastRequest.path).toBe("/v1/messages");
  });
});

describe("counting tokens of a model whose upstream speaks messages", () => {
  const path = "/v1/messages/count_tokens?beta=true";

  it("[native.count_tokens] asks the upstream, and costs nothing", async () => {
    const key = await chat.stack.createKey();
    chat.upstream.answer(json('{"input_tokens":4711, "tomorrow":1}'));
    const answer = await chat.send({ path, body: MESSAGES_TEXT, key: key.key, headers: BETA });
    expect(answer.text).toBe('{"input_tokens":4711, "tomorrow":1}');
    expect(chat.upstream.lastRequest.path).toBe(path);
    expect(chat.upstream.lastRequest.headers["anthropic-version"]).toBe("2026-10-21");
    expect((await readSpend(chat.stack, key)).key).toBe(0n);
  });

  it("[native.count_tokens] estimates where the upstream has no such endpoint", async () => {
    chat.upstream.answer({ kind: "json", status: 404, body: { detail: "Not Found" } });
    const answer = await chat.send({ path, body: messages() });
    expect(answer.status).toBe(200);
    expect(answer.json()["input_tokens"]).toBeGreaterThan(0);
  });
});

describe("a responses request to an upstream that speaks responses", () => {
  const path = "/v1/responses";
  const COST = 17n * 100n + 5n * 10n + 20n * 400n;

  it("[responses.native.request] passes both ways byte for byte but for the model's name, and costs what the last event says", async () => {
    const key = await chat.stack.createKey();
    chat.upstream.answer(stream(responsesStream(CHAT_UPSTREAM_MODEL)));
    const text = `{ "stream":true, "model":"${NATIVE_MODEL}","input":"hello", "client_metadata":{"id":1}, "tomorrow":1.50 }`;
    const headers = { "content-type": "application/json", "x-codex-window-id": "1", "session-id": "1" };
    const answer = await chat.send({ path, body: text, key: key.key, headers });
    const { lastRequest } = chat.upstream;
    expect(lastRequest.path).toBe(path);
    expect(lastRequest.bodyBytes.toString()).toBe(
      text.replace(NATIVE_MODEL, CHAT_UPSTREAM_MODEL).replace(', "client_metadata":{"id":1}', ""),
    );
    expect(Object.keys(lastRequest.headers)).not.toContain("x-codex-window-id");
    expect(Object.keys(lastRequest.headers)).not.toContain("session-id");
    const mapped = `"model":"${NATIVE_MODEL}"`;
    const unknown = `"sequence_number":4,"model":"${CHAT_UPSTREAM_MODEL}"`;
    expect(answer.text.replace(unknown, "")).toBe(
      responsesStream(CHAT_UPSTREAM_MODEL)
        .replace(unknown, "")
        .replaceAll(`"model":"${CHAT_UPSTREAM_MODEL}"`, mapped),
    );
    expect((await readSpend(chat.stack, key)).key).toBe(COST);
  });

  it.each([
    ["previous_response_id", { previous_response_id: "resp_1" }],
    ["conversation", { conversation: "conv_1" }],
    ["background", { background: true }],
    ["background", { background: "true" }],
    ["background", { background: 1 }],
    ["input[0]", { input: [{ type: "item_reference", id: "rs_1" }] }],
    ["input[0]", { input: [{ id: "msg_1" }] }],
    [
      "input[1]",
      {
        input: [
          { role: "user", content: "hi" },
          { id: "msg_1", type: null },
        ],
      },
    ],
    ["instructions[0]", { instructions: [{ id: "msg_1" }] }],
  ])("[responses.native.state] is refused when it asks for state: %s, %j", async (param, fields) => {
    const answer = await chat.send({ path, body: responses(fields) });
    expect(answer.status).toBe(400);
    expect(readError(answer)).toMatchObject({ code: "unsupported_parameter", param });
    expect(chat.upstream.requests).toEqual([]);
  });

  it("[responses.native.own_compaction] reads the summary that this gateway has packed", async () => {
    const carrier = packSummary(Buffer.from("S: blue")) ?? "";
    const item = { type: "compaction", id: "cmp_1", encrypted_content: carrier };
    for (const asked of [path, `${path}/input_tokens`]) {
      await chat.send({
        path: asked,
        body: responses({ input: [item, { role: "user", content: "go on" }] }),
      });
      expect(chat.upstream.lastRequest.path).toBe(asked);
      const text = chat.upstream.lastRequest.bodyBytes.toString();
      expect(text).toContain("S: blue");
      expect(text).not.toContain("gw3.");
    }
  });

  it("[responses.native.compact] has the upstream compact a conversation, byte for byte, without a limit that this endpoint has not", async () => {
    const key = await chat.stack.createKey();
    const usage = { input_tokens: 10, output_tokens: 5, total_tokens: 15 };
    const output = [{ type: "compaction", id: "cmp_1", encrypted_content: "gAAAAABo" }];
    const body = { id: "resp_1", object: "response.compaction", created_at: 1, output, usage };
    chat.upstream.answer(json(JSON.stringify(body)));
    const text = `{"model":"${NATIVE_MODEL}", "input":[{"role":"user","content":"hi"}], "tomorrow":1.50}`;
    const headers = { "content-type": "application/json" };
    const answer = await chat.send({ path: `${path}/compact`, body: text, key: key.key, headers });
    expect([answer.status, JSON.parse(answer.text)]).toEqual([200, body]);
    expect(chat.upstream.lastRequest.path).toBe(`${path}/compact`);
    expect(chat.upstream.lastRequest.bodyBytes.toString()).toBe(
      text.replace(NATIVE_MODEL, CHAT_UPSTREAM_MODEL),
    );
    expect((await readSpend(chat.stack, key)).key).toBe(10n * 100n + 5n * 400n);
  });

  it("[responses.native.broken_stream] that breaks off ends in an error and in response.failed", async () => {
    const whole = responsesStream(CHAT_UPSTREAM_MODEL);
    chat.upstream.answer(stream(whole.slice(0, whole.indexOf("event: response.completed"))));
    const answer = await chat.send({ path, body: responses({ stream: true }) });
    expect(answer.text).toMatch(/event: error\n[^\n]+\n\nevent: response\.failed\n[^\n]+\n\n$/);
  });
});
