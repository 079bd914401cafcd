/**
 * Answers that are given out whole lie in Envoy until their clients have read them. Many of 30 MiB that nobody reads
 * are more than Envoy may hold: they go, and nobody else is refused. What goes when is a share of the heap, here a part of the
 * usual one, since each answer takes a core for half a second.
 */
import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { describeAnswer } from "../support/answer-checks.ts";
import { CHAT_PATH, chatBody } from "../support/chat-stack.ts";
import { byExtent, firstOnPush } from "../support/extent.ts";
import { send } from "../support/http.ts";
import { textCompletion } from "../support/scripted-answer.ts";
import { createTestKey } from "../support/test-key.ts";
import { type ScriptedUpstream, startUpstream } from "../support/upstream.ts";
import { type ServeAlone, startServeAlone } from "./access/serve-alone.ts";

const USUAL_HEAP_BYTES = 2 * 1024 ** 3;
const HEAP_BYTES = USUAL_HEAP_BYTES / byExtent({ push: 4, nightly: 2 });
const ANSWER_BYTES = 30 * 1024 ** 2;
/** More than the heap may hold. */
const READERS = byExtent({ push: 20, nightly: 40 });
const OTHERS_REQUESTS = 39;
const BODY = JSON.stringify(chatBody());

/** Resolves with the answer's status; nothing more of it is read. */
type Begin = (port: number, key: string) => Promise<number>;

const beginHttp1: Begin = async (port, key) => {
  const socket = connect(port, "127.0.0.1");
  // Envoy closes it in the end.
  socket.on("error", () => undefined);
  onTestFinished(() => void socket.destroy());
  await once(socket, "connect");
  const head = [
    `POST ${CHAT_PATH} HTTP/1.1`,
    "host: gateway",
    `authorization: Bearer ${key}`,
    "content-type: application/json",
    `content-length: ${BODY.length}`,
  ];
  socket.write(`${head.join("\r\n")}\r\n\r\n${BODY}`);
  await once(socket, "readable");
  return Number((socket.read("HTTP/1.1 200".length) as Buffer).toString().slice(-3));
};

const beginHttp2: Begin = async (port, key) => {
  const session = connectHttp2(`http://127.0.0.1:${port}`);
  session.on("error", () => undefined);
  onTestFinished(() => session.destroy());
  const stream = session.request({
    ":method": "POST",
    ":path": CHAT_PATH,
    authorization: `Bearer ${key}`,
    "content-type": "application/json",
    "content-length": String(BODY.length),
  });
  stream.on("error", () => undefined);
  stream.end(BODY);
  const [headers] = (await once(stream, "response")) as [Readonly<Record<string, unknown>>];
  return Number(headers[":status"]);
};

const VERSIONS = firstOnPush([
  { version: "HTTP/1.1", begin: beginHttp1 },
  { version: "HTTP/2", begin: beginHttp2 },
]);

/** The heap's bound of the rendered bootstrap, for this one. */
function boundHeap(yaml: string): string {
  const bound = `max_heap_size_bytes: ${USUAL_HEAP_BYTES}`;
  expect(yaml.split(bound)).toHaveLength(2);
  return yaml.replace(bound, `max_heap_size_bytes: ${HEAP_BYTES}`);
}

describe.each(VERSIONS)(`${READERS} answers of 30 MiB that nobody reads ($version)`, ({ begin }) => {
  let upstream: ScriptedUpstream;
  let stack: ServeAlone;
  beforeAll(async () => {
    upstream = await startUpstream();
    stack = await startServeAlone({
      upstreamUrl: upstream.url,
      workers: 1,
      drainSeconds: 1,
      editBootstrap: boundHeap,
    });
  });
  afterAll(async () => {
    await stack?.stop();
    await upstream?.close();
  });

  it("refuse none of the requests of others", { timeout: 900_000 }, async () => {
    upstream.answer({ kind: "json", body: textCompletion("x".repeat(ANSWER_BYTES), null) });
    const { key } = await createTestKey(stack.store);
    const port = Number(new URL(stack.baseUrl).port);
    const statuses: number[] = [];
    for (let begun = 0; begun < READERS; begun += 1) statuses.push(await begin(port, key));
    // They were given out.
    expect(statuses).toEqual(Array.from({ length: READERS }, () => 200));
    upstream.reset();
    const other = await createTestKey(stack.store);
    const headers = { authorization: `Bearer ${other.key}` };
    const answers = await Promise.all(
      Array.from({ length: OTHERS_REQUESTS }, () =>
        send(stack.baseUrl, { path: CHAT_PATH, headers, body: chatBody() }),
      ),
    );
    expect(answers.map(describeAnswer)).toEqual(answers.map(() => "200"));
  });
});
