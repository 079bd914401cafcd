import { describe, expect, it } from "vitest";
import { withSharedChatStack } from "../support/chat-stack.ts";
import { CHAT_MODEL, CHAT_UPSTREAM_MODEL } from "../support/gateway-config.ts";
import {
  checkResponse,
  checkResponseStream,
  parseResponseEvents,
} from "../support/responses-protocol-checker.ts";
import {
  finishChunk,
  openaiError,
  textChunk,
  textCompletion,
  usageChunk,
} from "../support/scripted-answer.ts";
import { waitFor } from "../support/wait.ts";
import { monthLimits } from "../support/month-limits.ts";

const chat = withSharedChatStack();
const USAGE = { promptTokens: 11, cachedTokens: 4, completionTokens: 2 };
const PATH = "/v1/responses";

/** A Responses request with the key that has room. */
const send = (fields: object = {}, options: object = {}) =>
  chat.send({ path: PATH, body: { model: CHAT_MODEL, input: "hello big world", ...fields }, ...options });

/** What the request is recorded at. */
async function readCost(requestId: string): Promise<Record<string, unknown>> {
  let record: Record<string, unknown> = {};
  await waitFor("the request's record", async () => {
    const answer = await chat.send({ path: `/v1/requests/${requestId}`, method: "GET" });
    record = (answer.status === 200 ? JSON.parse(answer.text) : {}) as Record<string, unknown>;
    return record["status"] !== undefined;
  });
  return record;
}

describe("POST /v1/responses", () => {
  it("[responses.response.envelope] answers JSON under the catalog's model id, charged exactly", async () => {
    chat.upstream.answer({ kind: "json", body: textCompletion("Hello.", USAGE) });
    const answer = await send({ instructions: "Be brief." });
    expect(answer.status).toBe(200);
    const response = JSON.parse(answer.text) as Record<string, unknown>;
    checkResponse(response);
    expect(response).toMatchObject({ model: CHAT_MODEL, status: "completed", usage: { input_tokens: 11 } });
    expect(chat.upstream.lastRequest.body).toEqual({
      model: CHAT_UPSTREAM_MODEL,
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "hello big world" },
      ],
    });
    expect(await readCost(String(answer.headers["x-request-id"]))).toMatchObject({
      route: "POST /v1/responses",
      status: 200,
      input_tokens: 7,
      cached_input_tokens: 4,
      output_tokens: 2,
      estimated: false,
    });
  });

  it("[responses.stream.format] streams the whole grammar and one last event, charged exactly", async () => {
    chat.upstream.answer({
      kind: "events",
      events: [textChunk("Hel"), textChunk("lo."), finishChunk(), usageChunk(USAGE)],
    });
    const answer = await send({ stream: true });
    expect(answer.headers["content-type"]).toMatch(/^text\/event-stream/u);
    expect(answer.text.endsWith("data: [DONE]\n\n")).toBe(true);
    expect(checkResponseStream(parseResponseEvents(answer.text))).toBe("response.completed");
    expect(await readCost(String(answer.headers["x-request-id"]))).toMatchObject({
      input_tokens: 7,
      output_tokens: 2,
      estimated: false,
    });
  });

  it("[responses.stream.cut_off] ends a stream that the upstream breaks off in response.failed, charged for what came", async () => {
    chat.upstream.answer({ kind: "events", events: [textChunk("Hel")], done: false });
    const answer = await send({ stream: true });
    expect(checkResponseStream(parseResponseEvents(answer.text))).toBe("response.failed");
    const record = await readCost(String(answer.headers["x-request-id"]));
    expect(record).toMatchObject({ error_code: "upstream_error", estimated: true });
    expect(record["output_tokens"]).toBeGreaterThan(0);
  });

  it("[responses.stream.error_chunk] ends a stream with an error in it in response.failed", async () => {
    chat.upstream.answer({
      kind: "events",
      events: [textChunk("Hel"), { error: { message: "out of memory", code: 500 } }],
      done: false,
    });
    const events = parseResponseEvents((await send({ stream: true })).text);
    expect(checkResponseStream(events)).toBe("response.failed");
    expect(events.at(-2)).toMatchObject({ type: "error", data: { code: "upstream_error" } });
    expect(JSON.stringify(events)).not.toContain("out of memory");
  });

  it("[responses.stream.json_answer] plays a JSON answer to a streaming request", async () => {
    chat.upstream.answer({ kind: "json", body: textCompletion("Hello.", USAGE) });
    const answer = await send({ stream: true });
    expect(checkResponseStream(parseResponseEvents(answer.text))).toBe("response.completed");
  });

  it("[responses.usage.missing] counts by itself where the upstream tells no usage", async () => {
    chat.upstream.answer({ kind: "json", body: textCompletion("Hello there.", null) });
    const { usage } = JSON.parse((await send()).text) as { usage: Record<string, number> };
    expect(usage["input_tokens"]).toBeGreaterThan(0);
    expect(usage["output_tokens"]).toBeGreaterThan(0);
  });

  it("[responses.errors.context_length] keeps the code that clients shorten the conversation by", async () => {
    const message = "This model's maximum context length is 128000 tokens.";
    chat.upstream.answer({ kind: "json", status: 400, body: openaiError(message) });
    const answer = await send();
    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.text)).toMatchObject({ error: { code: "context_length_exceeded", message } });
  });

  it("[responses.headers.clients] tells the upstream nothing of what clients tell about themselves", async () => {
    chat.upstream.answer({ kind: "json", body: textCompletion("Hello.", USAGE) });
    await send(
      { client_metadata: { "x-codex-installation-id": "secret" }, prompt_cache_key: "secret" },
      {
        headers: {
          "x-codex-turn-metadata": "secret",
          "x-openai-internal-codex-responses-lite": "secret",
          "session-id": "secret",
          "thread-id": "secret",
          originator: "secret",
          "x-client-request-id": "secret",
        },
      },
    );
    const { headers, body } = chat.upstream.lastRequest;
    expect(JSON.stringify([headers, body])).not.toContain("secret");
  });

  it("[responses.headers.encoding] refuses a compressed body with a 415", async () => {
    expect((await send({}, { headers: { "content-encoding": "zstd" } })).status).toBe(415);
  });
});

describe("the endpoints under /v1/responses", () => {
  it("[responses.endpoints.input_tokens] count like count_tokens, free of charge", async () => {
    const answer = await send({}, { path: `${PATH}/input_tokens` });
    expect(JSON.parse(answer.text)).toEqual({
      object: "response.input_tokens",
      input_tokens: expect.any(Number) as number,
    });
    expect(chat.upstream.requests).toHaveLength(0);
    const refused = await send({ input: [] }, { path: `${PATH}/input_tokens` });
    expect(JSON.parse(refused.text)).toMatchObject({ error: { param: "input" } });
  });

  it.each([
    ["GET", `${PATH}/resp_1`],
    ["DELETE", `${PATH}/resp_1`],
    ["POST", `${PATH}/resp_1/cancel`],
    ["GET", `${PATH}/resp_1/input_items?limit=1`],
  ])(
    "[responses.endpoints.by_id] answer %s %s with a 404 that says that nothing is stored",
    async (method, path) => {
      const answer = await chat.send({ method, path });
      expect(answer.status).toBe(404);
      expect(JSON.parse(answer.text)).toMatchObject({ error: { code: "response_not_found" } });
    },
  );

  it("[responses.endpoints.compact] compact a conversation, charged exactly, so that the next request goes on from it", async () => {
    chat.upstream.answerNext({ kind: "json", body: textCompletion("S: blue", USAGE) });
    const compacted = await send({}, { path: `${PATH}/compact` });
    expect(compacted.status).toBe(200);
    const { object, output } = JSON.parse(compacted.text) as { object: string; output: { type: string }[] };
    expect([object, ...output.map(({ type }) => type)]).toEqual([
      "response.compaction",
      "message",
      "compaction",
    ]);
    expect(await readCost(String(compacted.headers["x-request-id"]))).toMatchObject({
      route: "POST /v1/responses/compact",
      status: 200,
      input_tokens: 7,
      output_tokens: 2,
      estimated: false,
    });
    await send({ input: [...output, { role: "user", content: "Go on." }] });
    expect(JSON.stringify(chat.upstream.lastRequest.body)).toContain("S: blue");
  });

  it("[responses.endpoints.compact] refuse compact without a key, at a cap, and by another method", async () => {
    const path = `${PATH}/compact`;
    expect((await send({}, { path, key: null })).status).toBe(401);
    const { key } = await chat.stack.createKey({ limits: monthLimits({ cap: 0 }) });
    expect((await send({}, { path, key })).status).toBe(402);
    expect((await chat.send({ method: "GET", path })).status).toBe(405);
    expect(JSON.parse((await send({ input: [] }, { path })).text)).toMatchObject({
      error: { param: "input" },
    });
    expect(chat.upstream.requests).toHaveLength(0);
  });

  it("[responses.endpoints.method] answer other methods with a 405", async () => {
    expect((await chat.send({ method: "GET", path: PATH })).status).toBe(405);
  });

  it("[responses.endpoints.websocket] answer a WebSocket upgrade with a 426, from which Codex goes on over HTTP", async () => {
    const answer = await chat.send({
      method: "GET",
      path: PATH,
      headers: { connection: "upgrade", upgrade: "websocket" },
    });
    expect(answer.status).toBe(426);
    expect(JSON.parse(answer.text)).toMatchObject({ error: { code: "websocket_not_supported" } });
  });
});
