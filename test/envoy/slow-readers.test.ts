/** Clients that do not read their answers stop nobody else's, though all go over the same few connections. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { describeAnswer } from "../support/answer-checks.ts";
import { CHAT_PATH, chatBody, withSharedChatStack } from "../support/chat-stack.ts";
import { textChunk } from "../support/scripted-answer.ts";
import { waitFor } from "../support/wait.ts";
import { readSidecarCounter } from "./edge/envoy-counters.ts";

const MEBIBYTE = 1024 ** 2;
const READERS = 40;
/** More than Envoy holds of one stream: its buffers and a window. */
const ANSWER_CHUNKS = 12;

const chat = withSharedChatStack();

it("answers that 40 clients do not read leave the requests of others alone", async () => {
  const events = Array.from({ length: ANSWER_CHUNKS }, () => textChunk("x".repeat(MEBIBYTE)));
  chat.upstream.answerNext(...Array.from({ length: READERS }, () => ({ kind: "events", events }) as const));
  await Promise.all(Array.from({ length: READERS }, beginWithoutReading));
  await waitFor("the upstream to be held back", async () => {
    const before = await countReceived();
    await chat.send({ path: "/v1/models" });
    return before > READERS * MEBIBYTE && (await countReceived()) - before < MEBIBYTE;
  });
  const answers = await Promise.all(Array.from({ length: 10 }, () => chat.send({ body: chatBody() })));
  expect(answers.map(describeAnswer)).toEqual(Array.from({ length: 10 }, () => "200"));
});

/** Bytes of the workers' replies. */
function countReceived(): Promise<number> {
  return readSidecarCounter(chat.stack, "upstream_cx_rx_bytes_total");
}

async function beginWithoutReading(): Promise<void> {
  const socket = connect(Number(new URL(chat.stack.baseUrl).port), "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  await once(socket, "connect");
  const body = JSON.stringify(chatBody({ stream: true }));
  const head = [
    `POST ${CHAT_PATH} HTTP/1.1`,
    "host: gateway",
    `authorization: Bearer ${chat.key.key}`,
    "content-type: application/json",
    `content-length: ${Buffer.byteLength(body)}`,
  ];
  socket.write(`${head.join("\r\n")}\r\n\r\n${body}`);
  await firstByte(socket);
}

/** The head has come; nothing more is read. */
async function firstByte(socket: Socket): Promise<void> {
  await once(socket, "readable");
}
