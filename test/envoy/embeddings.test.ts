import { describe, expect, it } from "vitest";
import { CHAT_PATH, chatBody, withSharedChatStack } from "../support/chat-stack.ts";
import { catalogEntry, CHAT_MODEL } from "../support/gateway-config.ts";
import { type HttpAnswer, readError, send as sendTo } from "../support/http.ts";
import { parseMetrics, sumOf } from "../support/metrics-page.ts";
import { openaiError } from "../support/scripted-answer.ts";
import { waitFor } from "../support/wait.ts";
import { readRequest, readSpend } from "./metering-figures.ts";
import { monthLimits } from "../support/month-limits.ts";

const PATH = "/v1/embeddings";
const EMBED_MODEL = "acme/embed";
const CENT = 1_000_000n;

/** A cent a token. */
const chat = withSharedChatStack([
  catalogEntry(),
  catalogEntry({
    id: EMBED_MODEL,
    upstream_model: "embed",
    context_window: 50,
    max_output_tokens: undefined,
    capabilities: ["embeddings"],
    prices: { USD: { input: "10000" } },
  }),
]);

const send = (fields: object = {}, options: object = {}): Promise<HttpAnswer> =>
  chat.send({ path: PATH, body: { model: EMBED_MODEL, input: "hello big world", ...fields }, ...options });

const embedded = (data: unknown, usage: object | null): object => ({
  object: "list",
  data,
  model: "embed",
  ...(usage === null ? {} : { usage }),
});
const ONE = [{ object: "embedding", index: 0, embedding: [0.25, -1e-7] }];

describe("POST /v1/embeddings", () => {
  it("passes a request and its answer through but for the model's name, charged by the upstream's usage", async () => {
    const key = await chat.stack.createKey();
    chat.upstream.answer({ kind: "json", body: embedded(ONE, { prompt_tokens: 7, total_tokens: 7 }) });
    const fields = { encoding_format: "float", dimensions: 2, user: "u", input_type: "query" };
    const answer = await send(fields, { key: key.key });
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.text)).toEqual({
      ...embedded(ONE, { prompt_tokens: 7, total_tokens: 7 }),
      model: EMBED_MODEL,
    });
    expect(answer.text).toContain("-1e-7");
    const { path, body } = chat.upstream.lastRequest;
    expect(path).toBe("/v1/embeddings");
    expect(body).toEqual({ model: "embed", input: "hello big world", ...fields });
    expect((await readSpend(chat.stack, key)).key).toBe(7n * CENT);
    expect(await readRequest(chat.stack, key, answer)).toMatchObject({
      route: "POST /v1/embeddings",
      model: EMBED_MODEL,
      input_tokens: 7,
      output_tokens: 0,
      estimated: false,
    });
    expect(answer.headers["x-ratelimit-limit-requests"]).toBeDefined();
  });

  it("takes megabytes of numbers and of base64 as they come", async () => {
    const numbers = Array.from({ length: 200_000 }, (_, index) => Math.sin(index));
    const data = [
      { object: "embedding", index: 0, embedding: numbers },
      { object: "embedding", index: 1, embedding: Buffer.alloc(4_000_000, 7).toString("base64") },
    ];
    const body = embedded(data, { prompt_tokens: 1, total_tokens: 1 });
    chat.upstream.answer({ kind: "json", body });
    const answer = await send({ input: ["a", "b"] });
    expect(answer.text).toBe(JSON.stringify({ ...body, model: EMBED_MODEL }));
  });

  it("takes the total for the prompt where an upstream tells nothing else", async () => {
    const key = await chat.stack.createKey();
    chat.upstream.answer({ kind: "json", body: embedded(ONE, { total_tokens: 9 }) });
    await send({}, { key: key.key });
    expect((await readSpend(chat.stack, key)).key).toBe(9n * CENT);
  });

  it.each([
    ["token ids", [1, 2, 3, 4], 4],
    ["batches of token ids", [[1, 2], [3], [4, 5, 6]], 6],
  ])(
    "counts %s exactly where the upstream tells no usage, and marks it as an estimate",
    async (_name, input, tokens) => {
      const key = await chat.stack.createKey();
      chat.upstream.answer({ kind: "json", body: embedded(ONE, null) });
      const answer = await send({ input }, { key: key.key });
      expect(await readRequest(chat.stack, key, answer)).toMatchObject({
        input_tokens: tokens,
        estimated: true,
      });
    },
  );

  it("charges the prompt's estimate when the upstream breaks off", async () => {
    const key = await chat.stack.createKey();
    chat.upstream.answer({ kind: "reset" });
    const answer = await send({ input: [1, 2, 3] }, { key: key.key });
    expect([answer.status, readError(answer).code]).toEqual([502, "upstream_error"]);
    expect((await readSpend(chat.stack, key)).key).toBe(3n * CENT);
  });

  it.each([
    [{ input: undefined }, "missing_required_parameter", "input"],
    [{ input: [] }, "invalid_parameter", "input"],
    [{ input: [true] }, "invalid_parameter", "input"],
    [{ model: 7 }, "invalid_parameter", "model"],
  ])("refuses %j with the field's name", async (fields, code, param) => {
    const answer = await send(fields);
    expect([answer.status, readError(answer)]).toMatchObject([400, { code, param }]);
    expect(chat.upstream.requests).toHaveLength(0);
  });

  it("passes the upstream's words about the request on, and nothing else", async () => {
    chat.upstream.answerNext(
      { kind: "json", status: 400, body: openaiError("input is too long", { param: "input" }) },
      { kind: "json", status: 401, body: openaiError("bad key sk-upstream") },
      { kind: "json", body: { object: "list" } },
    );
    const [long, auth, broken] = [await send(), await send(), await send()];
    expect(readError(long)).toMatchObject({ message: "input is too long", param: "input" });
    expect([auth.status, auth.text.includes("sk-upstream")]).toEqual([502, false]);
    expect([broken.status, readError(broken).code]).toEqual([502, "upstream_error"]);
  });

  it("refuses chat, messages, responses, counting and completions for a model that has embeddings alone", async () => {
    const messages = [{ role: "user", content: "hi" }];
    const requests = [
      { path: CHAT_PATH, body: { model: EMBED_MODEL, messages } },
      { path: "/v1/messages", body: { model: EMBED_MODEL, messages, max_tokens: 5 } },
      { path: "/v1/messages/count_tokens", body: { model: EMBED_MODEL, messages } },
      { path: "/v1/responses", body: { model: EMBED_MODEL, input: "hi" } },
      { path: "/v1/completions", body: { model: EMBED_MODEL, prompt: "hi" } },
    ];
    for (const request of requests) {
      const answer = await chat.send(request);
      expect([request.path, answer.status]).toEqual([request.path, 400]);
      const { code, message } = readError(answer);
      expect(code).toBe("endpoint_not_available_for_model");
      expect(message).toContain("`POST /v1/embeddings`");
    }
  });

  it("refuses a chat model, and says where that is served", async () => {
    const answer = await send({ model: CHAT_MODEL });
    expect([answer.status, readError(answer)]).toMatchObject([
      400,
      {
        code: "endpoint_not_available_for_model",
        param: "model",
        message: `The model \`${CHAT_MODEL}\` isn't available at this endpoint. It is available at \`POST /v1/chat/completions\`, \`POST /v1/messages\` and \`POST /v1/responses\`.`,
      },
    ]);
  });

  it("is refused by a cap that is reached, and by an allowed list without the model", async () => {
    const capped = await chat.stack.createKey({ limits: monthLimits({ cap: 0 }) });
    const other = await chat.stack.createKey({ allowedModels: [CHAT_MODEL] });
    expect((await send({}, { key: capped.key })).status).toBe(402);
    expect(readError(await send({}, { key: other.key })).code).toBe("model_not_allowed");
    expect(chat.upstream.requests).toHaveLength(0);
  });

  it("holds the whole prompt with strict caps: its bytes, and a window for each prompt of a batch", async () => {
    const bytesOf = (input: unknown) => JSON.stringify({ model: "embed", input }).length;
    const template = 64;
    // One prompt fills at most one window of 50 tokens, three fill three.
    for (const [input, worst] of [
      ["a".repeat(300), 50],
      [["a", "b", "c"], Math.min(150, bytesOf(["a", "b", "c"]) + template)],
    ] as const) {
      const settings = { limits: monthLimits({ cap: worst - 1 }) };
      const short = await chat.stack.createKey(settings, { strictCaps: true });
      const enough = await chat.stack.createKey(
        { limits: monthLimits({ cap: worst }) },
        { strictCaps: true },
      );
      chat.upstream.answer({ kind: "json", body: embedded(ONE, { prompt_tokens: 1, total_tokens: 1 }) });
      expect((await send({ input }, { key: short.key })).status).toBe(402);
      expect((await send({ input }, { key: enough.key })).status).toBe(200);
    }
  });

  it("stands in the metrics under its own route and operation", async () => {
    chat.upstream.answer({ kind: "json", body: embedded(ONE, { prompt_tokens: 1, total_tokens: 1 }) });
    await send();
    await chat.send({ body: chatBody() });
    const page = await waitFor("the metrics", async () => {
      const { text } = await sendTo(chat.stack.adminUrl, { path: "/metrics" });
      const metrics = parseMetrics(text);
      const count = sumOf(metrics, "gen_ai_server_request_duration_seconds_count", {
        gen_ai_operation_name: "embeddings",
      });
      return count > 0 && metrics;
    });
    expect(
      sumOf(page, "inference_gateway_requests_total", { route: "embeddings", status: "200" }),
    ).toBeGreaterThan(0);
  });

  it("lists with each model where it is served and what it can do", async () => {
    const answer = await chat.send({ path: "/v1/models", method: "GET" });
    const { data } = JSON.parse(answer.text) as { data: Record<string, unknown>[] };
    expect(data.find(({ id }) => id === EMBED_MODEL)).toMatchObject({
      supported_endpoints: ["/v1/embeddings"],
      supported_features: ["embeddings"],
      capabilities: null,
    });
    expect(data.find(({ id }) => id === CHAT_MODEL)).toMatchObject({
      supported_endpoints: ["/v1/chat/completions", "/v1/messages", "/v1/responses"],
    });
  });
});
