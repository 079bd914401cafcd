import { describe, expect, it } from "vitest";
import { createCatalog } from "../../../src/catalog/catalog.ts";
import { parseConfig } from "../../../src/config/load.ts";
import type { ProcessingResponse } from "../../../src/envoy/generated/envoy/service/ext_proc/v3/ProcessingResponse.ts";
import { ADMISSION_HEADER, UPSTREAM_HEADER } from "../../../src/envoy/names.ts";
import { RequestStream } from "../../../src/envoy/request-stream.ts";
import { type AdmissionContext, formatAdmissionContext } from "../../../src/exchange/admission-context.ts";
import { createAnswers } from "../../../src/exchange/answers.ts";
import { BodyBudget } from "../../../src/exchange/body-budget.ts";
import { Exchange } from "../../../src/exchange/exchange.ts";
import { messagesProtocol } from "../../../src/translation/messages-to-chat/protocol.ts";
import { chatProtocol } from "../../../src/translation/openai/protocol.ts";
import { createSettlement, type StoreScript } from "../settlement/settlement-fixture.ts";

const MODEL = "acme/echo-small";
const CONFIG = parseConfig(
  `
upstreams: [{name: local, url: "http://127.0.0.1:8000", path_prefix: /v1}]
catalog:
  - id: ${MODEL}
    upstream: local
    upstream_model: echo
    context_window: 1000
    max_output_tokens: 100
    prices: {USD: {input: "1", output: "1"}}
`,
  { baseDir: "/", env: {} },
);

const CONTEXT: AdmissionContext = {
  requestId: "req_1",
  endpoint: "chat_completions",
  protocol: "chat",
  route: "POST /v1/chat/completions",
  resource: null,
  organizationId: "org_1",
  organizationName: "Acme",
  keyId: "key_1",
  keyName: "ci",
  currency: "USD",
  strictCaps: false,
  allowedModels: null,
  month: "2026-11",
  day: "2026-11-21",
  rate: { limit: 60, capacity: 10, remaining: 9, resetMs: 1000, timeMs: 0 },
};

/** Resolves when it is true, or when a stream that does nothing more has had all the time it needs. */
async function settle(isSettled: () => boolean): Promise<void> {
  for (let turn = 0; turn < 20 && !isSettled(); turn += 1) await new Promise(setImmediate);
}

/** A stream whose replies, in order, are `replies`; a broken-off call is the last of them, as its reason. */
function openStream(script: StoreScript & { countTokens?: () => Promise<number> } = {}) {
  const replies: (ProcessingResponse | string)[] = [];
  const logged: string[] = [];
  const { settlement, seen } = createSettlement(script);
  const catalog = createCatalog(CONFIG);
  const log = (_fields: object, message: string) => void logged.push(message);
  const logger = { error: log, warn: log };
  const services = {
    catalog: () => catalog,
    settlement,
    budget: new BodyBudget({ maxBodyBytes: 1_000_000, maxHeldBytes: 1_000_000 }),
    nowMs: () => 0,
    logger,
  };
  const missing = () => Promise.reject(new Error("not in this test"));
  const stream = new RequestStream(
    { reply: (response) => void replies.push(response), fail: (reason) => void replies.push(reason) },
    {
      createExchange: (context, protocol) => new Exchange(context, protocol, services),
      answers: createAnswers({
        catalog: () => catalog,
        budget: services.budget,
        store: { getKey: missing, getOrganization: missing, readSpend: missing, findRequest: missing },
        countTokens: script.countTokens ?? missing,
      }),
      protocols: { chat: chatProtocol, messages: messagesProtocol },
      logger,
    },
  );
  /** Sends a message and resolves with the replies that it and those before it got. */
  const send = async (...messages: object[]): Promise<(ProcessingResponse | string)[]> => {
    for (const message of messages) stream.onMessage(message);
    const expected = replies.length;
    // Every step of the stream is a few promises long.
    await settle(() => replies.length > expected);
    return replies;
  };
  return { stream, send, replies, logged, seen };
}

function headers(fields: Record<string, string>, endOfStream = false): object {
  const list = Object.entries(fields).map(([key, value]) => ({ key, raw_value: Buffer.from(value) }));
  return { headers: { headers: list }, end_of_stream: endOfStream };
}

function requestHeaders(
  context: Partial<AdmissionContext> = {},
  fields: Record<string, string> = {},
): object {
  const admission = formatAdmissionContext({ ...CONTEXT, ...context });
  return {
    request_headers: headers({ ":path": "/v1/chat/completions", [ADMISSION_HEADER]: admission, ...fields }),
  };
}

const requestBody = (body: object | string): object => ({
  request_body: {
    body: Buffer.from(typeof body === "string" ? body : JSON.stringify(body)),
    end_of_stream: true,
  },
});
const VALID = requestBody({ model: MODEL, messages: [{ role: "user", content: "hi" }] });
const STREAMED = requestBody({ model: MODEL, messages: [{ role: "user", content: "hi" }], stream: true });
const responseHeaders = (fields: Record<string, string>): object => ({
  response_headers: headers({ ":status": "200", ...fields }),
});
const responseBody = (body: string, endOfStream = true): object => ({
  response_body: { body: Buffer.from(body), end_of_stream: endOfStream },
});
const JSON_TYPE = { "content-type": "application/json" };
const COMPLETION = JSON.stringify({
  model: "echo",
  choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 1, completion_tokens: 1 },
});

/** What kind of reply it is; of an immediate one also its status and code, of a broken-off call its reason. */
function kindOf(reply: ProcessingResponse | string | undefined): string {
  if (reply === undefined || typeof reply === "string") return String(reply);
  const immediate = reply.immediate_response;
  if (!immediate) return Object.keys(reply).find((name) => /^re(?:quest|sponse)_/u.test(name)) ?? "nothing";
  const { error } = JSON.parse(String(immediate.body)) as { error?: { code?: string } };
  return `immediate ${String(immediate.status?.code)} ${error?.code ?? ""}`.trim();
}

describe("RequestStream", () => {
  it("answers each message of a request once, in order", async () => {
    const { send, seen, stream } = openStream();
    await send(requestHeaders());
    await send(VALID);
    await send(responseHeaders(JSON_TYPE));
    const replies = await send(responseBody(COMPLETION));
    stream.onEnd();
    expect(replies.map(kindOf)).toEqual([
      "request_headers",
      "request_body",
      "response_headers",
      "response_body",
    ]);
    expect(seen.holds).toHaveLength(1);
    expect(seen.charges.filter(({ final }) => final !== null)).toHaveLength(1);
  });

  it("answers in order what comes before the last reply was made", async () => {
    const { send } = openStream();
    const replies = await send(requestHeaders(), VALID, responseHeaders(JSON_TYPE), responseBody(COMPLETION));
    await settle(() => replies.length >= 4);
    expect(replies.map(kindOf)).toEqual([
      "request_headers",
      "request_body",
      "response_headers",
      "response_body",
    ]);
  });

  it("passes chunks of a stream on at once, without a turn of the event loop", async () => {
    const { send, stream, replies } = openStream();
    await send(requestHeaders());
    await send(STREAMED);
    await send(responseHeaders({ "content-type": "text/event-stream" }));
    const before = replies.length;
    stream.onMessage(responseBody('data: {"model":"echo","choices":[]}\n\n', false));
    expect(replies.slice(before).map(kindOf)).toEqual(["response_body"]);
  });

  it("sends upstream what the exchange says, and none of the client's credentials", async () => {
    const { send } = openStream();
    await send(requestHeaders({}, { authorization: "Bearer k", "x-api-key": "k", "anthropic-beta": "b" }));
    const [, reply] = await send(VALID);
    const mutation = (reply as ProcessingResponse).request_body?.response;
    const set = Object.fromEntries(
      (mutation?.header_mutation?.set_headers ?? []).map(({ header }) => [
        header?.key,
        String(header?.raw_value),
      ]),
    );
    expect(set).toMatchObject({ [UPSTREAM_HEADER]: "local", ":path": "/v1/chat/completions" });
    expect(mutation?.header_mutation?.remove_headers).toEqual([
      "authorization",
      "x-api-key",
      "anthropic-beta",
    ]);
    expect(JSON.parse(String(mutation?.body_mutation?.body))).toMatchObject({ model: "echo" });
  });

  it("refuses a request without an admission, and says so in the log", async () => {
    const { send, logged, seen } = openStream();
    const replies = await send({
      request_headers: headers({ ":path": "/v1/chat/completions?key=1", "x-request-id": "id" }),
    });
    expect(replies.map(kindOf)).toEqual(["immediate 500 internal_error"]);
    expect(logged).toEqual([expect.stringContaining("without an admission was refused")]);
    expect(seen.holds).toEqual([]);
  });

  it.each([
    { name: "a body that is no JSON", body: requestBody("{"), expected: "immediate 400 invalid_json" },
    {
      name: "an unknown model",
      body: requestBody({ model: "acme/x", messages: [] }),
      expected: "immediate 400",
    },
  ])("refuses $name with one immediate response and holds nothing", async ({ body, expected }) => {
    const { send, seen } = openStream();
    await send(requestHeaders());
    const replies = await send(body);
    expect(replies.map(kindOf)).toEqual(["request_headers", expect.stringContaining(expected)]);
    expect(seen.holds).toEqual([]);
    expect(seen.recorded).toMatchObject([{ requestId: "req_1" }]);
  });

  it("refuses with 503 when the hold cannot be placed", async () => {
    const { send } = openStream({ hold: () => Promise.reject(new Error("away")) });
    await send(requestHeaders());
    expect((await send(VALID)).map(kindOf)).toEqual(["request_headers", "immediate 503 gateway_unavailable"]);
  });

  it("refuses with 500 what fails inside, and tells only the log why", async () => {
    const countTokens = () => Promise.reject(new Error("secret reason"));
    const { send, logged } = openStream({ countTokens });
    await send(requestHeaders({ endpoint: "count_tokens", protocol: "messages" }));
    const replies = await send(VALID);
    expect(replies.map(kindOf)).toEqual(["request_headers", "immediate 500 internal_error"]);
    expect(JSON.stringify(replies)).not.toContain("secret reason");
    expect(logged).toEqual(["a request failed"]);
  });
});

describe("RequestStream, when messages are not what they should be", () => {
  it.each<{ name: string; messages: object[] }>([
    { name: "a body before the headers", messages: [VALID] },
    { name: "headers twice", messages: [requestHeaders(), requestHeaders()] },
    { name: "a message of no kind", messages: [{}] },
    {
      name: "an admission that is no JSON",
      messages: [{ request_headers: headers({ [ADMISSION_HEADER]: "{" }) }],
    },
  ])("breaks the call off at $name", async ({ messages }) => {
    const { send, logged } = openStream();
    const replies = await send(...messages);
    await settle(() => replies.length >= messages.length);
    expect(replies.at(-1)).toBe("internal error");
    expect(logged).toEqual(["an exchange was broken off"]);
  });

  it("refuses with 500 a response to a request that was never routed", async () => {
    const { send } = openStream();
    await send(requestHeaders());
    const replies = await send(responseHeaders(JSON_TYPE));
    expect(replies.map(kindOf)).toEqual(["request_headers", "immediate 500 internal_error"]);
  });

  it.each([
    { name: "its headers", message: responseHeaders({}), reply: "response_headers" },
    { name: "its body", message: responseBody("x"), reply: "response_body" },
    { name: "its trailers", message: { response_trailers: {} }, reply: "response_trailers" },
  ])("changes nothing in another filter's answer: $name", async ({ message, reply }) => {
    const { send, replies } = openStream();
    await send(message);
    expect(replies.map(kindOf)).toEqual([reply]);
  });

  it("replies to nothing after the end, and holds nothing", async () => {
    const { send, stream, seen } = openStream();
    await send(requestHeaders());
    stream.onEnd();
    expect((await send(VALID)).map(kindOf)).toEqual(["request_headers"]);
    expect(seen.holds).toEqual([]);
  });

  it("settles a request whose client went away while its hold was placed, and sends no reply", async () => {
    let place = (): void => undefined;
    const hold = () =>
      new Promise<{ outcome: "held" }>((resolve) => (place = () => resolve({ outcome: "held" })));
    const { send, stream, replies, seen } = openStream({ hold });
    await send(requestHeaders());
    stream.onMessage(VALID);
    await new Promise(setImmediate);
    stream.onEnd();
    place();
    await settle(() => seen.charges.length > 0);
    expect(replies.map(kindOf)).toEqual(["request_headers"]);
    expect(seen.charges).toMatchObject([{ totalMicrocents: 0n, final: { status: 499 } }]);
  });
});
