import { afterAll, describe, expect, it } from "vitest";
import { describeAnswer, summarizeError } from "../support/answer-checks.ts";
import { chatBody, withChatStack } from "../support/chat-stack.ts";
import { CHAT_MODEL, CHAT_UPSTREAM_MODEL, catalogEntry } from "../support/gateway-config.ts";
import { finishChunk, textChunk, textCompletion } from "../support/scripted-answer.ts";
import { startUpstream } from "../support/upstream.ts";
import { monthLimits } from "../support/month-limits.ts";

const guarded = await startUpstream();
const CREDENTIAL = "upstream-secret-1";
const GUARDED_MODEL = "acme/guarded";
const NATIVE_MODEL = "acme/native";
const WIDE_MODEL = "acme/wide";
const TEXT_MODEL = "acme/text";
const EMBED_MODEL = "acme/embed";

/** By which a provider, or a server before it, can be steered to another model, account, deployment or price. */
const STEERING = [
  "x-amzn-bedrock-guardrailidentifier",
  "x-amzn-bedrock-performanceconfig-latency",
  "x-amzn-sagemaker-target-model",
  "x-amz-target",
  "azureml-model-deployment",
  "ocp-apim-subscription-key",
  "x-ms-client-principal",
  "x-goog-user-project",
  "x-goog-request-params",
  "x-gateway-inference-objective",
  "x-gateway-destination-endpoint",
  "x-data-parallel-rank",
  "x-http-method-override",
  "x-original-url",
  "x-rewrite-url",
  "private-token",
  "job-token",
  "openai-organization",
  "openai-project",
  "x-portkey-provider",
  "x-litellm-api-key",
  "helicone-target-url",
  "http-referer",
  "x-title",
  "idempotency-key",
  "x-custom-of-tomorrow",
];
const HELLO = [{ role: "user", content: "hi" }];
const ROUTES = [
  { path: "/v1/chat/completions", body: { messages: HELLO } },
  { path: "/v1/messages", body: { messages: HELLO, max_tokens: 5 } },
  { path: "/v1/responses", body: { input: "hi" } },
].flatMap((route) => [CHAT_MODEL, NATIVE_MODEL].map((model) => ({ ...route, model })));
const OTHER_ROUTES = [
  { path: "/v1/messages/count_tokens", body: { messages: HELLO }, model: NATIVE_MODEL },
  { path: "/v1/responses/input_tokens", body: { input: "hi" }, model: NATIVE_MODEL },
  { path: "/v1/completions", body: { prompt: "hi" }, model: TEXT_MODEL },
  { path: "/v1/embeddings", body: { input: "hi" }, model: EMBED_MODEL },
];
const WINDOW = "context-1m-2025-08-07";

const chat = withChatStack((upstream) => ({
  upstreams: [
    { name: "local", url: upstream.url, path_prefix: "/v1" },
    {
      name: "native",
      url: upstream.url,
      protocols: ["chat", "messages", "responses"],
      forward_headers: ["X-Session-Affinity", "openai-beta"],
    },
    {
      name: "guarded",
      url: guarded.url,
      path_prefix: "/v1",
      credential: { env: "TEST_UPSTREAM_CREDENTIAL" },
    },
  ],
  catalog: [
    catalogEntry(),
    catalogEntry({ id: GUARDED_MODEL, upstream: "guarded" }),
    catalogEntry({ id: NATIVE_MODEL, upstream: "native" }),
    catalogEntry({ id: WIDE_MODEL, upstream: "native", context_window: 1_000_000 }),
    catalogEntry({ id: TEXT_MODEL, capabilities: ["completions"] }),
    catalogEntry({ id: EMBED_MODEL, capabilities: ["embeddings"], max_output_tokens: undefined }),
  ],
  env: { TEST_UPSTREAM_CREDENTIAL: CREDENTIAL },
}));

afterAll(() => guarded.close());

describe("header policy towards an upstream", () => {
  it.each([
    { name: "x-api-key", value: "set below" },
    { name: "api-key", value: "key-of-another-provider" },
    { name: "x-goog-api-key", value: "key-of-another-provider" },
    { name: "proxy-authorization", value: "Basic dXNlcg==" },
    { name: "cookie", value: "session=1" },
    { name: "x-stainless-lang", value: "js" },
    { name: "x-stainless-retry-count", value: "2" },
    { name: "anthropic-version", value: "2023-06-01" },
    { name: "anthropic-beta", value: "a,b" },
    { name: "openai-organization", value: "org-1" },
    { name: "openai-project", value: "p-1" },
    { name: "x-envoy-upstream-rq-timeout-ms", value: "1" },
    { name: "x-envoy-retry-on", value: "5xx" },
    { name: "x-forwarded-for", value: "10.1.2.3" },
    { name: "x-forwarded-proto", value: "https" },
    { name: "x-forwarded-host", value: "inside" },
    { name: "forwarded", value: "for=10.1.2.3" },
    { name: "expect", value: "100-continue" },
    { name: "te", value: "trailers" },
    { name: "x-igw-upstream", value: "guarded" },
    { name: "x-igw-admission", value: "{}" },
    { name: "x-igw-anything", value: "1" },
  ])("takes $name off", async ({ name, value }) => {
    const headers = { [name]: name === "x-api-key" ? chat.key.key : value };
    const answer = await chat.send({ body: chatBody(), headers });
    expect(describeAnswer(answer)).toBe("200");
    const seen = chat.upstream.lastRequest;
    const prefix = /^(?:x-stainless-|anthropic-|openai-|x-envoy-|x-forwarded-|x-igw-)/u;
    const forbidden = Object.keys(seen.headers).filter((header) => header === name || prefix.test(header));
    expect(forbidden).toEqual([]);
    expect(seen.headers.authorization).toBeUndefined();
  });

  it.each([...ROUTES, ...OTHER_ROUTES])(
    "takes off every header that is not on its list: $path, $model",
    async ({ path, body, model }) => {
      const headers = {
        ...Object.fromEntries(STEERING.map((name) => [name, "1"])),
        "X-Session-Affinity": "s-1",
        "OpenAI-Beta": "b-1",
        "user-agent": "tester/1",
        traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
      };
      await chat.send({ path, body: { model, ...body }, headers });
      const seen = chat.upstream.lastRequest.headers;
      expect(STEERING.filter((name) => name in seen)).toEqual([]);
      expect(seen).toMatchObject({ "user-agent": "tester/1", "content-type": "application/json" });
      expect(seen["traceparent"]).toContain("0af7651916cd43dd8448eb211c80319c");
      const listed = model === NATIVE_MODEL ? ["s-1", "b-1"] : [undefined, undefined];
      expect([seen["x-session-affinity"], seen["openai-beta"]]).toEqual(listed);
    },
  );

  it.each([
    { model: NATIVE_MODEL, betas: `a-1, ${WINDOW}`, seen: "a-1" },
    { model: NATIVE_MODEL, betas: WINDOW, seen: undefined },
    { model: NATIVE_MODEL, betas: ["a-1", WINDOW, "a-2"], seen: "a-1,a-2" },
    { model: WIDE_MODEL, betas: `a-1,${WINDOW}`, seen: `a-1,${WINDOW}` },
  ])("lets $model have no larger window than its own: $betas", async ({ model, betas, seen }) => {
    for (const hardCap of [null, 100_000]) {
      const key = await chat.stack.createKey(
        {},
        { limits: monthLimits({ cap: hardCap }), strictCaps: hardCap !== null },
      );
      for (const path of ["/v1/messages", "/v1/messages/count_tokens"]) {
        await chat.send({
          path,
          key: key.key,
          body: { model, messages: HELLO, ...(path === "/v1/messages" && { max_tokens: 5 }) },
          headers: { "anthropic-beta": betas },
        });
        expect(chat.upstream.lastRequest.path).toContain(path);
        expect(chat.upstream.lastRequest.headers["anthropic-beta"]).toBe(seen);
      }
    }
    expect(chat.upstream.requests).toHaveLength(4);
  });

  it.each([
    { path: "/v1/messages", limit: { max_tokens: 5 } },
    { path: "/v1/messages/count_tokens", limit: {} },
  ])(
    "lets a body ask for no larger window, nor for another model's server: $path",
    async ({ path, limit }) => {
      const body = { model: NATIVE_MODEL, messages: HELLO, ...limit };
      await chat.send({
        path,
        body: { ...body, anthropic_beta: [WINDOW], Betas: [WINDOW], fallbacks: ["a"] },
      });
      expect(chat.upstream.lastRequest.body).toEqual({ ...body, model: CHAT_UPSTREAM_MODEL });
      const refused = await chat.send({ path, body: { ...body, api_base: "http://elsewhere.example" } });
      expect(refused.status).toBe(400);
      expect(refused.text).toContain("api_base");
      expect(chat.upstream.requests).toHaveLength(1);
    },
  );

  it("never shows an upstream the client's key, whichever header it came in", async () => {
    await chat.send({ body: chatBody(), headers: { "x-api-key": chat.key.key } });
    await chat.send({ body: chatBody(), key: null, headers: { "x-api-key": chat.key.key } });
    expect(chat.upstream.requests).toHaveLength(2);
    for (const request of chat.upstream.requests) {
      const all = [request.path, ...request.rawHeaders, request.bodyBytes.toString("utf8")].join("\n");
      expect(all).not.toContain(chat.key.key);
    }
  });

  it("asks no upstream for a compressed answer", async () => {
    await chat.send({ body: chatBody(), headers: { "accept-encoding": "gzip, br" } });
    expect(chat.upstream.lastRequest.headers["accept-encoding"]).toBe("identity");
  });

  it("reads a compressed answer that comes all the same", async () => {
    const error = { error: { message: "Too many tools.", param: "tools" } };
    chat.upstream.answerNext({ kind: "json", gzip: true, body: textCompletion("hi", null) });
    chat.upstream.answerNext({ kind: "json", gzip: true, status: 400, body: error });
    chat.upstream.answerNext({ kind: "events", gzip: true, events: [textChunk("hi"), finishChunk("stop")] });
    const whole = await chat.send({ body: chatBody() });
    expect(describeAnswer(whole)).toBe("200");
    expect(whole.json()).toMatchObject({ choices: [{ message: { content: "hi" } }] });
    expect(summarizeError(await chat.send({ body: chatBody() }))).toMatchObject({
      status: 400,
      message: "Too many tools.",
      breaches: [],
    });
    const streamed = await chat.send({ body: chatBody({ stream: true }) });
    expect(describeAnswer(streamed)).toBe("200");
    expect(streamed.text).toMatch(/"content":"hi".*\[DONE\]/s);
  });

  it("gives an upstream its own credential and nobody else", async () => {
    const answer = await chat.send({ body: chatBody({ model: GUARDED_MODEL }) });
    expect(describeAnswer(answer)).toBe("200");
    expect(guarded.lastRequest.headers.authorization).toBe(`Bearer ${CREDENTIAL}`);
    expect([answer.text, ...answer.rawHeaders].join("\n")).not.toContain(CREDENTIAL);
    await chat.send({ body: chatBody() });
    expect([...chat.upstream.lastRequest.rawHeaders].join("\n")).not.toContain(CREDENTIAL);
  });

  it("reads and passes on no header with an underscore in its name", async () => {
    const headers = { x_session_affinity: "s-1", x_tags: "no tags" };
    const answer = await chat.send({ body: chatBody({ model: NATIVE_MODEL }), headers });
    expect(describeAnswer(answer)).toBe("200");
    expect(Object.keys(chat.upstream.lastRequest.headers).filter((name) => /_|affinity/u.test(name))).toEqual(
      [],
    );
    const keyless = await chat.send({ body: chatBody(), key: null, headers: { x_api_key: chat.key.key } });
    expect(keyless.status).toBe(401);
  });

  it("sends the gateway's own id, and none of the client's", async () => {
    const answer = await chat.send({ body: chatBody(), headers: { "x-request-id": "mine" } });
    expect(chat.upstream.lastRequest.headers["x-request-id"]).toBe(answer.headers["x-request-id"]);
    expect(answer.headers["x-request-id"]).toMatch(/^req_/u);
  });

  it("lets no client choose the upstream", async () => {
    guarded.reset();
    await chat.send({ body: chatBody(), headers: { "X-IGW-Upstream": "guarded" } });
    expect(guarded.requests).toHaveLength(0);
    expect(chat.upstream.requests).toHaveLength(1);
  });
});

/** Envoy's own and those that the contract names. */
const OUR_HEADERS =
  "content-type cache-control date content-length transfer-encoding connection keep-alive server " +
  "x-service-ratelimit-remaining x-request-id request-id x-request-cost x-should-retry retry-after " +
  "x-ratelimit-limit-requests x-ratelimit-remaining-requests x-ratelimit-reset-requests";

describe("header policy towards the client", () => {
  const UPSTREAM_HEADERS = {
    "cache-control": "no-store",
    date: "Sat, 21 Nov 2026 01:00:00 GMT",
    server: "vllm",
    "set-cookie": "tracking=1",
    "openai-organization": "org-upstream",
    "openai-processing-ms": "12",
    "x-ratelimit-limit-requests": "7",
    "x-ratelimit-remaining-tokens": "7",
    "x-service-ratelimit-remaining": "424242",
    "x-request-id": "req_upstream",
    "request-id": "req_upstream",
    "x-should-retry": "true",
    "retry-after": "7",
    "x-powered-by": "Express",
    "access-control-allow-origin": "https://evil.example",
    "strict-transport-security": "max-age=1",
    location: "http://10.0.0.1/",
    via: "1.1 inner",
    "x-envoy-upstream-service-time": "7",
    "x-igw-upstream": "local",
    "www-authenticate": "Basic",
  };

  it.each([
    { name: "a JSON answer", stream: false, status: 200 },
    { name: "a stream", stream: true, status: 200 },
    { name: "an error", stream: false, status: 400 },
  ])("passes content-type, cache-control and date of $name and nothing else", async ({ stream, status }) => {
    chat.upstream.answer(
      stream
        ? { kind: "events", headers: UPSTREAM_HEADERS, events: [finishChunk()] }
        : {
            kind: "json",
            status,
            headers: UPSTREAM_HEADERS,
            body: status === 200 ? textCompletion("ok", null) : { error: { message: "no" } },
          },
    );
    const answer = await chat.send({ body: chatBody({ stream }) });
    const passed = Object.entries(UPSTREAM_HEADERS).filter(([name, value]) =>
      [answer.headers[name]].flat().includes(value),
    );
    const allowed = ["cache-control", "date"];
    expect(passed.map(([name]) => name).filter((name) => !allowed.includes(name))).toEqual([]);
    const ours = new Set(OUR_HEADERS.split(" "));
    expect(Object.keys(answer.headers).filter((name) => !ours.has(name))).toEqual([]);
  });

  it("keeps cache-control and date of an answer", async () => {
    chat.upstream.answer({ kind: "json", headers: UPSTREAM_HEADERS, body: textCompletion("ok", null) });
    const { headers } = await chat.send({ body: chatBody() });
    expect(headers["cache-control"]).toBe("no-store");
    expect(headers.date).toBeDefined();
  });

  it("writes content-type, the status of a success and cache-control of a stream itself", async () => {
    const own = { ...UPSTREAM_HEADERS, "content-type": "application/json; charset=utf-8" };
    chat.upstream.answer({ kind: "json", status: 201, headers: own, body: textCompletion("ok", null) });
    const whole = await chat.send({ body: chatBody() });
    expect([whole.status, whole.headers["content-type"]]).toEqual([200, "application/json"]);
    chat.upstream.answer({ kind: "events", headers: UPSTREAM_HEADERS, events: [textChunk("x")] });
    const { headers } = await chat.send({ body: chatBody({ stream: true }) });
    expect(headers).toMatchObject({ "content-type": "text/event-stream", "cache-control": "no-cache" });
  });
});
