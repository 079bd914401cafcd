import { describe, expect, it } from "vitest";
import { ADMISSION_HEADER, UPSTREAM_HEADER } from "../../../src/envoy/names.ts";
import {
  MAX_MESSAGE_BYTES,
  MODEL,
  VALID,
  STREAMED,
  JSON_TYPE,
  COMPLETION,
  settle,
  openStream,
  headers,
  requestHeaders,
  requestBody,
  responseHeaders,
  responseBody,
  kindOf,
  endOf,
} from "./request-stream-fixture.ts";
import type { Message } from "../../../src/envoy/messages/messages.ts";

describe("RequestStream", () => {
  it("answers the whole request once, and the whole response", async () => {
    const { send, seen, stream, finished, replies } = openStream();
    await send(requestHeaders());
    expect(replies).toEqual([]);
    await send(VALID);
    expect(replies.map(kindOf)).toEqual(["request_headers"]);
    await send(responseHeaders(JSON_TYPE), responseBody(COMPLETION, false));
    expect(replies).toHaveLength(1);
    await send(responseBody(""));
    stream.onEnd();
    expect(replies.map(kindOf)).toEqual(["request_headers", "response_headers"]);
    const [request, response] = replies as Message<"ProcessingResponse">[];
    expect(request?.request_headers?.response?.status).toBe("CONTINUE_AND_REPLACE");
    expect(response?.response_headers?.response?.status).toBe("CONTINUE_AND_REPLACE");
    expect(seen.opened).toHaveLength(1);
    expect(seen.charges.filter(({ final }) => final !== null)).toHaveLength(1);
    // The end of the call, which comes after the answer, is not a second end.
    await settle(() => finished.length > 1);
    expect(finished).toMatchObject([{ status: 200, code: null, route: "chat_completions" }]);
  });

  it.each([
    { name: "a whole answer", body: VALID, type: JSON_TYPE, answer: COMPLETION },
    {
      name: "a stream",
      body: STREAMED,
      type: { "content-type": "text/event-stream" },
      answer: `data: {"model":"echo","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1}}\n\ndata: [DONE]\n\n`,
    },
    { name: "an upstream's error", body: VALID, type: { ":status": "400" }, answer: "{}" },
  ])("tells each field of the access log once, of $name", async ({ body, type, answer }) => {
    const { send, replies } = openStream();
    await send(requestHeaders());
    await send(body);
    const told = () =>
      replies.flatMap((reply) => {
        const namespaces = (reply as Message<"ProcessingResponse">).dynamic_metadata?.fields ?? {};
        return Object.values(namespaces).flatMap(({ structValue }) => Object.keys(structValue?.fields ?? {}));
      });
    expect(told()).toEqual(["key_id", "organization_id", "model"]);
    await send(responseHeaders(type));
    await send(responseBody(answer));
    await settle(() => told().length > 3);
    expect(told()).toEqual(expect.arrayContaining(["input_tokens", "cost_microcents"]));
    expect(told()).toHaveLength(new Set(told()).size);
  });

  it("answers in order what comes before the last reply was made", async () => {
    const { send } = openStream();
    const replies = await send(requestHeaders(), VALID, responseHeaders(JSON_TYPE), responseBody(COMPLETION));
    await settle(() => replies.length >= 2);
    expect(replies.map(kindOf)).toEqual(["request_headers", "response_headers"]);
  });

  it.each([
    { name: "in pieces", end: [requestBody("")] },
    { name: "in pieces, then trailers", end: [{ request_trailers: {} }] },
  ])("takes a body that comes $name", async ({ end }) => {
    const { send, seen, replies } = openStream();
    const bytes = JSON.stringify({ model: MODEL, messages: [{ role: "user", content: "hi" }] });
    const piece = (text: string) => ({ request_body: { body: Buffer.from(text), end_of_stream: false } });
    await send(requestHeaders(), piece(bytes.slice(0, 20)), piece(bytes.slice(20)));
    expect(replies).toEqual([]);
    await send(...end);
    await settle(() => replies.length > 0);
    expect(replies.map(kindOf)).toEqual(["request_headers"]);
    expect(seen.opened).toHaveLength(1);
  });

  it.each(["NONE", undefined])(
    "ends if Envoy's mode is %s, and the log says how to put that right",
    async (mode) => {
      const { stream, replies, logged } = openStream();
      stream.onMessage(requestHeaders({}, {}, mode ?? null));
      await settle(() => replies.length > 0);
      expect(replies).toEqual(["internal error"]);
      expect(logged).toEqual([expect.stringContaining("render its bootstrap again")]);
    },
  );

  it("refuses a request that is more than a worker keeps of one", async () => {
    const { send, seen } = openStream();
    await send(requestHeaders());
    const replies = await send(requestBody(" ".repeat(MAX_MESSAGE_BYTES + 1)));
    expect(replies.map(kindOf)).toEqual(["immediate 413 request_too_large"]);
    expect(seen.opened).toEqual([]);
  });

  it("hears nothing more of a request that it has refused", async () => {
    const { send, stream, replies, logged, seen } = openStream();
    stream.onMessage(requestHeaders());
    const piece = (text: string) => ({ request_body: { body: Buffer.from(text), end_of_stream: false } });
    await send(piece(" ".repeat(MAX_MESSAGE_BYTES + 1)), piece(" "), VALID);
    await settle(() => replies.length > 1);
    expect(replies.map(kindOf)).toEqual(["immediate 413 request_too_large"]);
    expect([logged, seen.opened]).toEqual([[], []]);
  });

  it("tells a client of an answer that is more than a worker keeps of one, and charges what it was estimated at", async () => {
    const { send, seen } = openStream();
    await send(requestHeaders());
    await send(VALID);
    await send(responseHeaders(JSON_TYPE), responseBody(" ".repeat(MAX_MESSAGE_BYTES), false));
    const replies = await send(responseBody(" ", false));
    await settle(() => replies.length > 1);
    expect(replies.map(kindOf)).toEqual(["request_headers", "immediate 502 upstream_error"]);
    expect(seen.charges).toMatchObject([{ final: { status: 502, errorCode: "upstream_error" } }]);
  });

  it("keeps nothing of a body whose client went away", async () => {
    const { send, stream, budget } = openStream();
    await send(requestHeaders());
    await send({ request_body: { body: Buffer.from("{"), end_of_stream: false } });
    expect(budget.bufferedBytes).toBe(1);
    stream.onEnd();
    expect(budget.bufferedBytes).toBe(0);
  });

  it("refuses a body in crumbs", async () => {
    const { send, stream, replies } = openStream();
    await send(requestHeaders());
    const crumb = { request_body: { body: Buffer.from(" "), end_of_stream: false } };
    for (let piece = 0; piece < 1_100; piece += 1) stream.onMessage(crumb);
    expect(replies).toHaveLength(1);
    expect(kindOf(replies[0] ?? "")).toBe("immediate 400 invalid_parameter");
  });

  it("passes chunks of a stream on at once, without a turn of the event loop", async () => {
    const { send, stream, replies } = openStream();
    await send(requestHeaders());
    await send(STREAMED);
    await send(responseHeaders({ "content-type": "text/event-stream" }));
    const before = replies.length;
    const endOfMicrotasks = async () => await Promise.resolve();
    stream.onMessage(responseBody('data: {"model":"echo","choices":[]}\n\n', false));
    await endOfMicrotasks();
    expect(replies.slice(before).map(kindOf)).toEqual(["response_body"]);
    // Half an event is nothing yet.
    stream.onMessage(responseBody('data: {"model"', false));
    await endOfMicrotasks();
    expect(replies).toHaveLength(before + 1);
  });

  it("ends a stream whose upstream never says anything again in an error of time, and charges what was generated", async () => {
    const { send, stream, replies, silent, seen, finished } = openStream();
    await send(requestHeaders());
    await send(STREAMED);
    await send(responseHeaders({ "content-type": "text/event-stream" }));
    await send(
      responseBody('data: {"model":"echo","choices":[{"index":0,"delta":{"content":"hi"}}]}\n\n', false),
    );
    const pieceOf = (reply: Message<"ProcessingResponse"> | string | undefined) =>
      (reply as Message<"ProcessingResponse">).response_body?.response?.body_mutation?.streamed_response;
    silent[0]?.sendKeepAlive();
    await Promise.resolve();
    expect(pieceOf(replies.at(-1))?.body?.toString()).toBe(": in progress\n\n");
    silent[0]?.giveUp();
    await settle(() => finished.length > 0);
    expect(finished).toMatchObject([{ code: "upstream_timeout" }]);
    expect(pieceOf(replies.at(-1))?.body?.toString()).toContain('"code":"upstream_timeout"');
    expect(pieceOf(replies.at(-1))?.end_of_stream).toBe(true);
    const before = replies.length;
    silent[0]?.sendKeepAlive();
    stream.onEnd();
    await settle(() => replies.length > before);
    expect(replies).toHaveLength(before);
    expect(seen.charges.filter(({ final }) => final !== null)).toHaveLength(1);
  });

  it("passes chunks that came in one turn on as one message, in their order", async () => {
    const { send, stream, replies } = openStream();
    await send(requestHeaders());
    await send(STREAMED);
    await send(responseHeaders({ "content-type": "text/event-stream" }));
    const before = replies.length;
    for (const id of ["a", "b", "c"]) {
      stream.onMessage(responseBody(`data: {"id":"${id}","model":"echo","choices":[]}\n\n`, false));
    }
    await Promise.resolve();
    const [reply, ...more] = replies.slice(before) as Message<"ProcessingResponse">[];
    expect(more).toEqual([]);
    const piece = reply?.response_body?.response?.body_mutation?.streamed_response?.body?.toString() ?? "";
    expect([...piece.matchAll(/"id":"(.)"/g)].map(([, id]) => id)).toEqual(["a", "b", "c"]);
  });

  it.each([
    { name: "the upstream's end", last: [responseBody("data: [DONE]\n\n", true)] },
    { name: "[DONE], whether the upstream ends or not", last: [responseBody("data: [DONE]\n\n", false)] },
    { name: "the upstream's trailers", last: [responseBody("", false), { response_trailers: {} }] },
  ])("ends a streamed response once, with $name, charged", async ({ last }) => {
    const { send, replies, seen, stream } = openStream();
    await send(requestHeaders());
    await send(STREAMED);
    await send(responseHeaders({ "content-type": "text/event-stream" }));
    const finish = {
      model: "echo",
      choices: [{ index: 0, delta: { content: "hi" }, finish_reason: "stop" }],
    };
    stream.onMessage(responseBody(`data: ${JSON.stringify(finish)}\n\n`, false));
    for (const message of last) stream.onMessage(message);
    const ends = () => replies.filter((reply) => endOf(reply) === true);
    await settle(() => ends().length > 0);
    expect(ends()).toHaveLength(1);
    expect(seen.charges.filter(({ final }) => final !== null)).toHaveLength(1);
    const sent = replies.length;
    stream.onMessage(responseBody("data: late\n\n", true));
    await new Promise(setImmediate);
    expect(replies).toHaveLength(sent);
  });

  it("sends upstream what the exchange says, and none of the client's credentials", async () => {
    const { send } = openStream();
    await send(requestHeaders({}, { authorization: "Bearer k", "x-api-key": "k", "anthropic-beta": "b" }));
    const [reply] = await send(VALID);
    const mutation = (reply as Message<"ProcessingResponse">).request_headers?.response;
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
      ...requestHeaders(),
      request_headers: headers({ ":path": "/v1/chat/completions?key=1", "x-request-id": "id" }),
    });
    expect(replies.map(kindOf)).toEqual(["immediate 500 internal_error"]);
    expect(logged).toEqual([expect.stringContaining("without admission rejected")]);
    expect(seen.opened).toEqual([]);
  });

  it.each([
    { name: "a body that is no JSON", body: requestBody("{"), expected: "immediate 400 invalid_json" },
    {
      name: "an unknown model",
      body: requestBody({ model: "acme/x", messages: [] }),
      expected: "immediate 400",
    },
  ])("refuses $name with one immediate response and records nothing", async ({ body, expected }) => {
    const { send, seen } = openStream();
    await send(requestHeaders());
    const replies = await send(body);
    expect(replies.map(kindOf)).toEqual([expect.stringContaining(expected)]);
    expect(seen.opened).toEqual([]);
    expect(seen.recorded).toMatchObject([{ requestId: "req_1" }]);
  });

  it("refuses with 503 when the record cannot be opened", async () => {
    const { send } = openStream({ openRecord: () => Promise.reject(new Error("away")) });
    await send(requestHeaders());
    expect((await send(VALID)).map(kindOf)).toEqual(["immediate 503 gateway_unavailable"]);
  });

  it("refuses with 500 what fails inside, and tells only the log why", async () => {
    const countPrompt = () => Promise.reject(new Error("secret reason"));
    const { send, logged } = openStream({ countPrompt });
    await send(requestHeaders({ endpoint: "count_tokens", protocol: "messages" }));
    const replies = await send(VALID);
    expect(replies.map(kindOf)).toEqual(["immediate 500 internal_error"]);
    expect(JSON.stringify(replies)).not.toContain("secret reason");
    expect(logged).toEqual(["request failed"]);
  });
});

describe("RequestStream, when messages are not what they should be", () => {
  it.each<{ name: string; messages: object[] }>([
    { name: "a body before the headers", messages: [VALID] },
    { name: "headers twice", messages: [requestHeaders(), requestHeaders()] },
    { name: "a body after the body's end", messages: [requestHeaders(), VALID, VALID] },
    { name: "a message of no kind", messages: [{}] },
    {
      name: "an admission that is none",
      messages: [{ ...requestHeaders(), request_headers: headers({ [ADMISSION_HEADER]: "{" }) }],
    },
  ])("breaks the call off at $name", async ({ messages }) => {
    const { send, logged } = openStream();
    const replies = await send(...messages);
    await settle(() => replies.length >= messages.length);
    expect(replies.at(-1)).toBe("internal error");
    expect(logged).toEqual(["exchange interrupted"]);
  });

  it("refuses with 500 a response to a request that was never routed", async () => {
    const { send } = openStream();
    await send(requestHeaders());
    const replies = await send(responseHeaders(JSON_TYPE));
    expect(replies.map(kindOf)).toEqual(["immediate 500 internal_error"]);
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

  it("replies to nothing after the end, and records nothing", async () => {
    const { send, stream, seen } = openStream();
    await send(requestHeaders());
    stream.onEnd();
    expect(await send(VALID)).toEqual([]);
    expect(seen.opened).toEqual([]);
  });

  it("settles a request whose client went away while its record was opened, and sends no reply", async () => {
    let place = (): void => undefined;
    const openRecord = () =>
      new Promise<{ outcome: "opened" }>((resolve) => (place = () => resolve({ outcome: "opened" })));
    const { send, stream, replies, seen, finished } = openStream({ openRecord });
    await send(requestHeaders());
    stream.onMessage(VALID);
    await new Promise(setImmediate);
    stream.onEnd();
    place();
    await settle(() => seen.charges.length > 0);
    expect(replies).toEqual([]);
    expect(seen.charges).toMatchObject([{ totalMicrocents: 0n, final: { status: 499 } }]);
    expect(finished).toMatchObject([{ status: 499, firstTokenMs: null }]);
  });
});
