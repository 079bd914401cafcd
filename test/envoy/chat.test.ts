import { describe, expect, it } from "vitest";
import { describeAnswer } from "../support/answer-checks.ts";
import { chatBody, withSharedChatStack } from "../support/chat-stack.ts";
import { CHAT_MODEL, CHAT_UPSTREAM_MODEL } from "../support/gateway-config.ts";
import { readEvents } from "../support/http.ts";
import { textCompletion } from "../support/scripted-answer.ts";

const chat = withSharedChatStack();

/** Values that a parse and a new stringify would change. */
const ODD_FIELDS = [
  '"seed":12345678901234567890',
  '"x_ratio": 1.0',
  '"x_small":1e-7',
  '"x_text":"\\u00e9\\/ü\\ud83d\\ude00"',
  '"x_vendor" : {"b": [1,  2, {}], "a": null, "": false}',
  '"__proto__": {"x": 1}',
];

describe("chat completions, request", () => {
  it("reaches the upstream with every unknown field byte for byte, under the upstream's model name", async () => {
    const messages = '"messages":[{"role":"user","content":"h\\u0069","x_part":[1.50]}]';
    const body = `{ ${messages},"model" :"acme/echo-small", ${ODD_FIELDS.join(", ")}}`;
    const answer = await chat.send({ body, headers: { "content-type": "application/json" } });
    expect(describeAnswer(answer)).toBe("200");
    const text = chat.upstream.lastRequest.bodyBytes.toString("utf8");
    for (const field of [messages, ...ODD_FIELDS]) expect(text).toContain(field);
    expect(chat.upstream.lastRequest.body?.["model"]).toBe(CHAT_UPSTREAM_MODEL);
    expect(chat.upstream.lastRequest.path).toBe("/v1/chat/completions");
  });

  it("leaves a nested field called model alone", async () => {
    const answer = await chat.send({
      body: chatBody({ metadata: { model: CHAT_MODEL }, model: CHAT_MODEL }),
    });
    expect(describeAnswer(answer)).toBe("200");
    expect(chat.upstream.lastRequest.body).toMatchObject({
      model: CHAT_UPSTREAM_MODEL,
      metadata: { model: CHAT_MODEL },
    });
  });

  it("asks the upstream for usage and keeps the client's other stream options", async () => {
    await chat.send({
      body: chatBody({ stream: true, stream_options: { x_vendor: 7, include_usage: false } }),
    });
    expect(chat.upstream.lastRequest.body?.["stream_options"]).toMatchObject({
      x_vendor: 7,
      include_usage: true,
    });
  });

  it("sends the length of the body that it really sends", async () => {
    await chat.send({ body: chatBody({ stream: true }) });
    const { headers, bodyBytes } = chat.upstream.lastRequest;
    const isChunked = headers["transfer-encoding"] === "chunked";
    expect(headers["content-length"]).toBe(isChunked ? undefined : String(bodyBytes.length));
    expect(chat.upstream.lastRequest.body).toBeDefined();
  });

  it("takes a body without a content-length", async () => {
    const [first, second] = splitInTwo(JSON.stringify(chatBody()));
    const answer = await chat.send({
      chunks: [first, second],
      headers: { "content-type": "application/json" },
    });
    expect(describeAnswer(answer)).toBe("200");
  });

  it("ignores a query", async () => {
    const answer = await chat.send({ path: "/v1/chat/completions?api-version=1", body: chatBody() });
    expect(describeAnswer(answer)).toBe("200");
    expect(chat.upstream.lastRequest.path).toMatch(/^\/v1\/chat\/completions(?:\?|$)/u);
  });
});

describe("chat completions, answer", () => {
  it("reaches the client with every unknown field byte for byte, under the catalog's model id", async () => {
    const choices =
      '"choices":[{"index":0,"message":{"role":"assistant","content":"h\\u0069"},"finish_reason":"stop"}]';
    const usage = '"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5,"x_cost":0.10}';
    const body = `{ "id":"x", ${choices}, "model": "echo", ${usage}, ${ODD_FIELDS.join(", ")}}`;
    chat.upstream.answer({
      kind: "bytes",
      headers: { "content-type": "application/json" },
      pieces: [body],
      usage: { promptTokens: 3, cachedTokens: 0, completionTokens: 2 },
    });
    const answer = await chat.send({ body: chatBody() });
    expect(describeAnswer(answer)).toBe("200");
    for (const field of [choices, usage, ...ODD_FIELDS]) expect(answer.text).toContain(field);
    expect(answer.json()["model"]).toBe(CHAT_MODEL);
  });

  it("streams every unknown field of a chunk byte for byte, under the catalog's model id", async () => {
    const chunk = `"choices":[{"index":0,"delta":{"content":"h\\u0069","x_delta":1.0},"logprobs":null}]`;
    const last = `"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]`;
    chat.upstream.answer({
      kind: "bytes",
      headers: { "content-type": "text/event-stream; charset=utf-8" },
      pieces: [
        `data: {"model":"echo",${chunk},${ODD_FIELDS.join(",")}}\n\n`,
        `data: {${last}, "model": "echo"}\n\n`,
        "data: [DONE]\n\n",
      ],
    });
    const answer = await chat.send({ body: chatBody({ stream: true }) });
    expect(describeAnswer(answer)).toBe("200");
    expect(answer.headers["content-type"]).toMatch(/^text\/event-stream/u);
    for (const field of [chunk, last, ...ODD_FIELDS]) expect(answer.text).toContain(field);
    const events = readEvents(answer.text);
    expect(events.at(-1)).toBe("[DONE]");
    expect(events.slice(0, -1)).toMatchObject([{ model: CHAT_MODEL }, { model: CHAT_MODEL }]);
  });

  it("makes a stream of a JSON answer when the client asked for a stream", async () => {
    const usage = { promptTokens: 3, cachedTokens: 0, completionTokens: 2 };
    chat.upstream.answer({ kind: "json", body: textCompletion("not streamed", usage) });
    const answer = await chat.send({
      body: chatBody({ stream: true, stream_options: { include_usage: true } }),
    });
    expect(answer.headers["content-type"]).toMatch(/^text\/event-stream/u);
    const events = readEvents(answer.text);
    expect(events.at(-1)).toBe("[DONE]");
    const chunks = events.slice(0, -1) as { choices: { delta: { content?: string } }[]; usage?: object }[];
    const content = chunks.map((chunk) => chunk.choices[0]?.delta.content ?? "").join("");
    expect(content).toBe("not streamed");
    const usages = chunks.flatMap((chunk) => (chunk.usage ? [chunk.usage] : []));
    expect(usages).toMatchObject([{ prompt_tokens: 3, completion_tokens: 2 }]);
  });

  it("tells the bucket of the key on every answer", async () => {
    const { key } = await chat.stack.createKey({ requestsPerMinute: 60 });
    const first = await chat.send({ key, body: chatBody() });
    expect(first.headers).toMatchObject({
      "x-service-ratelimit-remaining": "9",
      "x-ratelimit-limit-requests": "60",
      "x-ratelimit-remaining-requests": "9",
      "x-ratelimit-reset-requests": expect.stringMatching(/^(?:\d+ms|[\d.]+s)$/u) as string,
    });
    const refused = await chat.send({ key, body: "{" });
    expect(refused.status).toBe(400);
    expect(Number(refused.headers["x-service-ratelimit-remaining"])).toBeLessThanOrEqual(9);
  });

  it("never takes the client's own request id for the request's", async () => {
    const headers = { "x-request-id": "req_mine", "request-id": "req_mine" };
    const answer = await chat.send({ body: chatBody(), headers });
    expect(describeAnswer(answer)).toBe("200");
    expect(answer.headers["x-request-id"]).toMatch(/^req_[\da-f-]{36}$/u);
  });
});

function splitInTwo(text: string): [string, string] {
  const middle = Math.floor(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)];
}
