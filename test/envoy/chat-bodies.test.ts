import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { describeAnswer, summarizeError } from "../support/answer-checks.ts";
import { chatBody, withSharedChatStack } from "../support/chat-stack.ts";
import { CHAT_MODEL, catalogEntry } from "../support/gateway-config.ts";
import { textCompletion } from "../support/scripted-answer.ts";

const chat = withSharedChatStack([
  catalogEntry(),
  catalogEntry({ id: "acme/echo-large" }),
  catalogEntry({ id: "other/think-1", upstream_model: "think" }),
]);

const MAX_BODY_BYTES = 32 * 1024 * 1024;
const JSON_TYPE = { "content-type": "application/json" };

/** A valid chat request of exactly so many bytes. */
function bodyOfSize(bytes: number): Buffer {
  const empty = JSON.stringify(chatBody({}, ""));
  return Buffer.from(JSON.stringify(chatBody({}, "x".repeat(bytes - empty.length))));
}

describe("size of request bodies", () => {
  it.each([
    { name: "with a content-length", chunked: false },
    { name: "chunked", chunked: true },
  ])("takes 32 MiB, $name", async ({ chunked }) => {
    chat.upstream.answer({ kind: "json", body: textCompletion("ok", null) });
    const body = bodyOfSize(MAX_BODY_BYTES);
    expect(body).toHaveLength(MAX_BODY_BYTES);
    const answer = await chat.send(chunked ? { chunks: [body], headers: JSON_TYPE } : { body });
    expect(describeAnswer(answer)).toBe("200");
    const seen = chat.upstream.lastRequest.body as { messages: { content: string }[] };
    expect(seen.messages[0]?.content).toHaveLength(MAX_BODY_BYTES - JSON.stringify(chatBody({}, "")).length);
  });

  it.each([
    { name: "with a content-length", chunked: false },
    { name: "chunked", chunked: true },
  ])("refuses one byte more, $name, and no upstream sees it", async ({ chunked }) => {
    const body = bodyOfSize(MAX_BODY_BYTES + 1);
    const answer = await chat.send(chunked ? { chunks: [body], headers: JSON_TYPE } : { body });
    expect(summarizeError(answer)).toMatchObject({
      status: 413,
      type: "request_too_large",
      code: "request_too_large",
      breaches: [],
    });
    expect(chat.upstream.requests).toHaveLength(0);
  });
});

describe("what the upstream gets of a body", () => {
  it("may be more than the largest that a client may send", async () => {
    chat.upstream.answer({ kind: "json", body: textCompletion("ok", null) });
    const empty = JSON.stringify(chatBody({ stream: true }, "")).length;
    // The upstream is asked for usage besides.
    const answer = await chat.send({ body: chatBody({ stream: true }, "x".repeat(MAX_BODY_BYTES - empty)) });
    expect(describeAnswer(answer)).toBe("200");
    expect(chat.upstream.lastRequest.bodyBytes.length).toBeGreaterThan(MAX_BODY_BYTES);
  });

  it.each([
    { name: "by length", chunked: false },
    { name: "by chunks", chunked: true },
  ])("has a length, and is not chunked, whether it came $name", async ({ chunked }) => {
    chat.upstream.answer({ kind: "json", body: textCompletion("ok", null) });
    const body = Buffer.from(JSON.stringify(chatBody()));
    await chat.send(
      chunked ? { chunks: [body.subarray(0, 9), body.subarray(9)], headers: JSON_TYPE } : { body },
    );
    const { headers, bodyBytes } = chat.upstream.lastRequest;
    expect(headers["transfer-encoding"]).toBeUndefined();
    expect(Number(headers["content-length"])).toBe(bodyBytes.length);
  });
});

describe("size of answers", () => {
  const answerOfSize = (bytes: number) =>
    ({ kind: "json", body: textCompletion("x".repeat(bytes), null) }) as const;

  it("passes one of 30 MiB", async () => {
    chat.upstream.answer(answerOfSize(30 * 1024 * 1024));
    const answer = await chat.send({ body: chatBody() });
    expect(describeAnswer(answer)).toBe("200");
    expect(answer.text.length).toBeGreaterThan(30 * 1024 * 1024);
  });

  it("says of one that is more than a worker keeps that the upstream failed", async () => {
    chat.upstream.answer(answerOfSize(34 * 1024 * 1024));
    const answer = await chat.send({ body: chatBody() });
    expect(summarizeError(answer)).toMatchObject({ status: 502, code: "upstream_error", breaches: [] });
  });
});

describe("bodies that are no chat request", () => {
  it.each([
    { name: "no body", body: "", code: "invalid_json" },
    { name: "broken JSON", body: '{"model":', code: "invalid_json" },
    { name: "two JSON values", body: "{}{}", code: "invalid_json" },
    { name: "bytes that are no UTF-8", body: Buffer.from([0x7b, 0xff, 0x7d]), code: "invalid_json" },
    { name: "an array", body: "[]" },
    { name: "null", body: "null" },
    { name: "no model", body: '{"messages":[]}', code: "missing_required_parameter", param: "model" },
    {
      name: "a model that is a number",
      body: '{"model":1,"messages":[]}',
      code: "invalid_parameter",
      param: "model",
    },
    {
      name: "no messages",
      body: JSON.stringify({ model: CHAT_MODEL }),
      code: "missing_required_parameter",
      param: "messages",
    },
    {
      name: "messages that are text",
      body: JSON.stringify({ model: CHAT_MODEL, messages: "hi" }),
      code: "invalid_parameter",
      param: "messages",
    },
    {
      name: "a stream flag that is text",
      body: JSON.stringify(chatBody({ stream: "yes" })),
      code: "invalid_parameter",
      param: "stream",
    },
  ])("refuses $name with a 400 that names what is wrong", async ({ body, code, param }) => {
    const answer = await chat.send({ body, headers: JSON_TYPE });
    expect(summarizeError(answer)).toMatchObject({
      status: 400,
      type: "invalid_request_error",
      breaches: [],
      ...(code === undefined ? {} : { code }),
      ...(param === undefined ? {} : { param }),
    });
    expect(chat.upstream.requests).toHaveLength(0);
  });

  it("refuses a POST without any body", async () => {
    const answer = await chat.send({ method: "POST", headers: { "content-length": "0" } });
    expect(summarizeError(answer)).toMatchObject({
      status: 400,
      type: "invalid_request_error",
      breaches: [],
    });
  });

  it("refuses a compressed body", async () => {
    const body = gzipSync(JSON.stringify(chatBody()));
    const answer = await chat.send({ body, headers: { ...JSON_TYPE, "content-encoding": "gzip" } });
    expect(summarizeError(answer)).toMatchObject({
      status: 415,
      code: "unsupported_media_type",
      breaches: [],
    });
  });

  it.each(["application/grpc", "application/grpc+json", "application/grpc+proto"])(
    "answers %s, to which Envoy writes its replies in gRPC's form, as every other request",
    async (type) => {
      const headers = { "content-type": type };
      const summarize = async (options: Parameters<typeof chat.send>[0]) => {
        const answer = await chat.send({ body: chatBody(), ...options });
        const { status, code, breaches } = summarizeError(answer);
        return { status, code, breaches, remaining: answer.headers["x-service-ratelimit-remaining"] };
      };
      const { key } = await chat.stack.createKey({ name: 'ä % "ci"', requestsPerMinute: 600 });
      expect(await summarize({ headers, key })).toEqual({
        status: 415,
        code: "unsupported_media_type",
        breaches: [],
        remaining: "59",
      });
      expect(await summarize({ headers, key, path: "/v1/nowhere" })).toMatchObject({ status: 404 });
      expect(await summarize({ headers, key: null })).toMatchObject({ status: 401, remaining: "0" });
      expect(chat.upstream.requests).toHaveLength(0);
    },
  );

  it("takes application/grpc-web for JSON, as it does every content type that is not gRPC's own", async () => {
    chat.upstream.answer({ kind: "json", body: textCompletion("ok", null) });
    const headers = { "content-type": "application/grpc-web" };
    expect(describeAnswer(await chat.send({ body: chatBody(), headers }))).toBe("200");
    expect(summarizeError(await chat.send({ body: "{", headers }))).toMatchObject({
      status: 400,
      breaches: [],
    });
  });

  it.each([
    { name: "a typing error", model: "acme/echo-smal", nearest: "acme/echo-small" },
    { name: "the upstream's name", model: "think", nearest: "other/think-1" },
    { name: "another case", model: "Acme/Echo-Large", nearest: "acme/echo-large" },
  ])("names the nearest models for $name", async ({ model, nearest }) => {
    const answer = await chat.send({ body: chatBody({ model }) });
    expect(summarizeError(answer)).toMatchObject({
      status: 400,
      code: "model_not_found",
      param: "model",
      message: expect.stringContaining(nearest) as string,
      breaches: [],
    });
    expect(chat.upstream.requests).toHaveLength(0);
  });
});
