/**
 * What a record says of an answer that ended before its end: an upstream that breaks off or goes silent, a client that goes
 * away, a body that does not come. Envoy alone knows, and tells it to whichever worker its own log goes to.
 */
import { once } from "node:events";
import { connect as connectHttp2, constants } from "node:http2";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { type ChatStack, chatBody, withChatStack } from "../support/chat-stack.ts";
import { byExtent, firstOnPush } from "../support/extent.ts";
import { catalogEntry, CHAT_MODEL } from "../support/gateway-config.ts";
import { type HttpAnswer, send } from "../support/http.ts";
import type { ScriptedAnswer } from "../support/scripted-answer.ts";
import type { SideEnvoy } from "../support/side-envoy.ts";
import type { CreatedKey } from "../support/test-key.ts";
import { createGate, waitFor } from "../support/wait.ts";
import { readAdmitted } from "./edge/envoy-counters.ts";
import { startImpatientEnvoy } from "./edge/impatient-envoy.ts";

const CHUNK = { id: "c", object: "chat.completion.chunk", created: 1, model: "m" };
const piece = (content: string) =>
  `data: ${JSON.stringify({ ...CHUNK, choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`;
const NATIVE_MODEL = "acme/native";
const TEXT_MODEL = "acme/text";
const EMBED_MODEL = "acme/embed";
const HELLO = [{ role: "user", content: "hi" }];
const STREAMED = [
  { path: "/v1/chat/completions", name: "chat", body: chatBody() },
  { path: "/v1/responses", name: "responses", body: { model: CHAT_MODEL, input: "hi" } },
  {
    path: "/v1/messages",
    name: "messages",
    body: { model: CHAT_MODEL, max_tokens: 9, messages: HELLO },
  },
  { path: "/v1/completions", name: "completions", body: { model: TEXT_MODEL, prompt: "hi" } },
  { path: "/v1/responses", name: "native responses", body: { model: NATIVE_MODEL, input: "hi" } },
  {
    path: "/v1/messages",
    name: "native messages",
    body: { model: NATIVE_MODEL, max_tokens: 9, messages: HELLO },
  },
] as const;
const ROUTES = [
  ...STREAMED,
  { path: "/v1/embeddings", name: "embeddings", body: { model: EMBED_MODEL, input: "hi" } },
] as const;
const BEGUN: ScriptedAnswer = {
  kind: "bytes",
  headers: { "content-type": "application/json", "content-length": "1000" },
  pieces: ['{"id":"chatcmpl-1","object":"chat.completion",'],
};
/** Envoy takes half a MiB more. */
const MAX_BODY_BYTES = 1_000_000;
const STREAM_TYPE = { "content-type": "text/event-stream" };
/** How an upstream ends its answer in the wrong place, and what becomes of the request. */
const ENDINGS = [
  {
    place: "a reset before its head",
    answer: { kind: "reset" },
    status: 502,
    code: "upstream_error",
    cause: /^upstream_reset_before_response_started/,
  },
  {
    place: "silence before its head",
    answer: { kind: "hang" },
    status: 504,
    code: "upstream_timeout",
    cause: /^(?:stream_idle|response)_timeout/,
  },
  {
    place: "a reset behind its head",
    answer: { ...BEGUN, ending: "reset" },
    status: 502,
    code: "upstream_error",
    cause: /^upstream_reset_after_response_started/,
  },
  {
    place: "silence behind its head",
    answer: { ...BEGUN, ending: "hang" },
    status: 504,
    code: "upstream_timeout",
    cause: /^stream_idle_timeout/,
  },
] as const satisfies readonly { answer: ScriptedAnswer; [field: string]: unknown }[];
const EACH_WITH_EACH = ROUTES.map((route) => ENDINGS.map((ending) => ({ ...route, ...ending })));
/** On each push each route has two of the endings. */
const BROKEN = EACH_WITH_EACH.flatMap((cases, route) =>
  byExtent({ push: cases.filter((_, ending) => (route + ending) % 2 === 0), nightly: cases }),
);
/** Envoy's own are on several connections, so that each worker gets requests and each thread's log goes somewhere. */
const TRIES = 6;

describe.each(firstOnPush([2, 1]))("with %i workers", (workers) => {
  const chat = withChatStack((upstream) => ({
    workers,
    overrides: { limits: { max_body_bytes: MAX_BODY_BYTES } },
    upstreams: [
      { name: "local", url: upstream.url, path_prefix: "/v1" },
      { name: "native", url: upstream.url, path_prefix: "/v1", protocols: ["messages", "responses"] },
    ],
    catalog: [
      catalogEntry(),
      catalogEntry({ id: NATIVE_MODEL, upstream: "native" }),
      catalogEntry({ id: TEXT_MODEL, capabilities: ["completions"] }),
      catalogEntry({ id: EMBED_MODEL, max_output_tokens: undefined, capabilities: ["embeddings"] }),
    ],
  }));
  let impatient: SideEnvoy | undefined;

  beforeAll(async () => {
    impatient = await startImpatientEnvoy(chat.stack.dir);
  });
  afterAll(() => impatient?.stop());

  it.each(BROKEN)(
    "$name: $place is the upstream's $status",
    async ({ path, body, answer, status, code, cause }) => {
      const key = await chat.stack.createKey();
      chat.upstream.answer(answer);
      const authorization = `Bearer ${key.key}`;
      const ask = () => send(impatient!.baseUrl, { path, body, headers: { authorization } });
      const answers = await Promise.all(Array.from({ length: TRIES }, ask));
      expect(answers.map((one) => one.status)).toEqual(Array.from(answers, () => status));
      for (const row of await rowsOf(chat, key, TRIES)) {
        expect(row).toMatchObject({ status, errorCode: code });
        expect(row.trace.upstream?.cause).toMatch(cause);
      }
    },
  );

  it.each(STREAMED)("$name: a stream that its upstream cuts is told as cut by it", async ({ path, body }) => {
    const key = await chat.stack.createKey();
    const seen = createGate();
    chat.upstream.answer({
      kind: "bytes",
      headers: STREAM_TYPE,
      pieces: [piece("one"), seen, piece(" two")],
      ending: "reset",
    });
    let begun = 0;
    const onData = (): undefined => {
      begun += 1;
      if (begun >= TRIES) seen.release();
    };
    const ask = () =>
      chat.stack.send({ path, key: key.key, body: { ...body, stream: true }, onData }).catch(String);
    await Promise.all(Array.from({ length: TRIES }, ask));
    for (const row of await rowsOf(chat, key, TRIES)) {
      expect(row).toMatchObject({ status: 200, errorCode: "upstream_error", estimated: true });
      expect(row.trace.upstream?.cause).toMatch(/^upstream_reset_after_response_started/);
      expect(row.costMicrocents).toBeGreaterThan(0n);
    }
  });

  it.each(STREAMED)(
    "$name: a stream in which its upstream falls silent is the upstream's timeout",
    async ({ path, body }) => {
      const key = await chat.stack.createKey();
      chat.upstream.answer({ kind: "bytes", headers: STREAM_TYPE, pieces: [piece("one")], ending: "hang" });
      const authorization = `Bearer ${key.key}`;
      const request = { path, body: { ...body, stream: true }, headers: { authorization } };
      const ask = () => send(impatient!.baseUrl, request).catch(String);
      await Promise.all(Array.from({ length: TRIES }, ask));
      for (const row of await rowsOf(chat, key, TRIES)) {
        expect(row).toMatchObject({ status: 200, errorCode: "upstream_timeout", estimated: true });
        expect(row.trace.upstream?.cause).toMatch(/^stream_idle_timeout/);
        expect(row.costMicrocents).toBeGreaterThan(0n);
      }
    },
  );

  it("a stream that its client does not read is the client's end", async () => {
    const key = await chat.stack.createKey();
    // More than Envoy and all sockets on the way hold.
    const pieces = Array.from({ length: 400 }, () => piece("x".repeat(40_000)));
    chat.upstream.answer({ kind: "bytes", headers: STREAM_TYPE, pieces, ending: "hang" });
    const { hostname, port } = new URL(impatient!.baseUrl);
    const socket = connect(Number(port), hostname).pause();
    onTestFinished(() => void socket.destroy());
    const body = JSON.stringify(chatBody({ stream: true }));
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key.key}\r\n` +
        `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
    const [row] = await rowsOf(chat, key, 1);
    expect(row).toMatchObject({ status: 499, errorCode: null });
    expect(row?.trace.upstream?.cause).toMatch(/^stream_idle_timeout/);
  });

  it("a client that goes away is the client's, before the head and behind it", async () => {
    const key = await chat.stack.createKey();
    chat.upstream.answer({ kind: "hang" });
    const controllers = Array.from({ length: TRIES }, () => new AbortController());
    const early = controllers.map(({ signal }) =>
      fetch(`${chat.stack.baseUrl}${ROUTES[0].path}`, {
        method: "POST",
        headers: { authorization: `Bearer ${key.key}`, "content-type": "application/json" },
        body: JSON.stringify(chatBody()),
        signal,
      }),
    );
    await chat.upstream.waitForRequests(TRIES);
    for (const controller of controllers) controller.abort();
    await Promise.allSettled(early);
    chat.upstream.reset();
    const pieces = [piece("one"), createGate()];
    chat.upstream.answer({ kind: "bytes", headers: { "content-type": "text/event-stream" }, pieces });
    const leave = (): Promise<HttpAnswer> =>
      chat.send({ key: key.key, body: chatBody({ stream: true }), onData: () => "abort" });
    await Promise.allSettled(Array.from({ length: TRIES }, leave));
    for (const row of await rowsOf(chat, key, 2 * TRIES)) {
      expect(row).toMatchObject({ status: 499, errorCode: null });
      expect(row.trace.upstream?.cause).toBe("downstream_remote_disconnect");
    }
  });

  it("a client of HTTP/2 that takes its request back is the client's as well", async () => {
    const key = await chat.stack.createKey();
    const pieces = [piece("one"), createGate()];
    chat.upstream.answer({ kind: "bytes", headers: { "content-type": "text/event-stream" }, pieces });
    const session = connectHttp2(chat.stack.baseUrl);
    onTestFinished(() => session.destroy());
    const stream = session.request({
      ":method": "POST",
      ":path": ROUTES[0].path,
      authorization: `Bearer ${key.key}`,
      "content-type": "application/json",
    });
    stream.end(JSON.stringify(chatBody({ stream: true })));
    await once(stream, "data");
    stream.close(constants.NGHTTP2_CANCEL);
    const [row] = await rowsOf(chat, key, 1);
    expect(row).toMatchObject({ status: 499, errorCode: null });
    expect(row?.trace.upstream?.cause).toBe("http2.remote_reset");
  });

  it.each([
    {
      what: "does not come in time",
      head: "content-length: 5000",
      body: '{"model',
      status: 408,
      code: "request_timeout",
    },
    {
      what: "is larger than it may be, which nothing had declared",
      head: "transfer-encoding: chunked",
      body: `${(MAX_BODY_BYTES * 2).toString(16)}\r\n${"x".repeat(MAX_BODY_BYTES * 2)}\r\n`,
      status: 413,
      code: "request_too_large",
    },
    {
      what: "breaks off its framing",
      head: "transfer-encoding: chunked",
      body: "this is no length\r\n",
      status: 400,
      code: "invalid_parameter",
    },
  ])(
    "a body that $what is on the list as the $status that its client got",
    async ({ head, body, status, code }) => {
      const key = await chat.stack.createKey();
      const { adminSocket, baseUrl } = impatient!;
      const { hostname, port } = new URL(baseUrl);
      const before = await readAdmitted(adminSocket);
      const socket = connect(Number(port), hostname);
      let got = "";
      socket.on("data", (bytes) => (got += bytes.toString()));
      socket.on("error", () => undefined);
      socket.write(
        `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key.key}\r\n${head}\r\n\r\n`,
      );
      // What the body does wrong is read behind the admission: Envoy has to know of it, not Redis alone.
      await waitFor("the admission", async () => (await readAdmitted(adminSocket)) > before);
      socket.write(body);
      await waitFor("the answer", () => got.startsWith(`HTTP/1.1 ${status} `));
      socket.destroy();
      const [row] = await rowsOf(chat, key, 1);
      expect(row).toMatchObject({ status, errorCode: code, costMicrocents: 0n });
    },
  );
});

/** The rows of all requests of the key, once there are so many. */
async function rowsOf(chat: ChatStack, key: CreatedKey, count: number) {
  const store = await chat.stack.store();
  return waitFor(`${count} rows`, async () => {
    const { items } = await store.listRequests(key.organizationId, { limit: 50, after: null });
    return items.length === count ? items : null;
  });
}
