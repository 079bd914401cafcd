/**
 * Answers that are given out whole lie in Envoy until their clients have read them. 80 of 30 MiB that nobody reads are more
 * than Envoy may hold: they go, and nobody else is refused.
 */
import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { describeAnswer } from "../support/answer-checks.ts";
import { CHAT_PATH, chatBody, withChatStack } from "../support/chat-stack.ts";
import { textCompletion } from "../support/scripted-answer.ts";

const ANSWER_BYTES = 30 * 1024 ** 2;
const READERS = 80;
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

describe.each([
  { version: "HTTP/1.1", begin: beginHttp1 },
  { version: "HTTP/2", begin: beginHttp2 },
])("80 answers of 30 MiB that nobody reads ($version)", ({ begin }) => {
  const chat = withChatStack();

  it("refuse none of the requests of others", { timeout: 900_000 }, async () => {
    chat.upstream.answer({ kind: "json", body: textCompletion("x".repeat(ANSWER_BYTES), null) });
    const { key } = await chat.stack.createKey();
    const port = Number(new URL(chat.stack.baseUrl).port);
    const statuses: number[] = [];
    for (let begun = 0; begun < READERS; begun += 1) statuses.push(await begin(port, key));
    // They were given out.
    expect(statuses).toEqual(Array.from({ length: READERS }, () => 200));
    chat.upstream.reset();
    const other = await chat.stack.createKey();
    const answers = await Promise.all(
      Array.from({ length: OTHERS_REQUESTS }, () => chat.send({ key: other.key, body: chatBody() })),
    );
    expect(answers.map(describeAnswer)).toEqual(answers.map(() => "200"));
  });
});
