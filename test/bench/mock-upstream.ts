/**
 * The model server of the benchmarks where there is no compiler for mock-upstream.c: as cheap as Node can make it. Answers
 * are made once; a request is read only as far as its length. A process of its own: prints its port, ends on SIGTERM.
 */
import { type AddressInfo, createServer, type Socket } from "node:net";
import { createMockAnswers } from "./mock-answers.ts";

/** SSE events of one streamed answer: role, text deltas, finish, usage, `[DONE]`. */
const TEXT_CHUNKS = Number(process.argv[2] ?? "100");
const HELD_CHUNK_INTERVAL_MS = 1_000;

const HEAD_END = Buffer.from("\r\n\r\n");
const STREAM_FLAG = Buffer.from('"stream":true');
const HOLD_FLAG = Buffer.from('"x_hold":true');
const LENGTH = /\r\ncontent-length: *(\d+)/iu;

const { json, stream, heldHead, heldChunk } = createMockAnswers(TEXT_CHUNKS);

interface Connection {
  pending: Buffer;
  /** Bytes of the request whose end is not there yet, or 0. */
  needed: number;
  timer: NodeJS.Timeout | null;
}

const server = createServer((socket) => {
  const connection: Connection = { pending: Buffer.alloc(0), needed: 0, timer: null };
  socket.setNoDelay(true);
  socket.on("data", (chunk) => {
    connection.pending = connection.pending.length === 0 ? chunk : Buffer.concat([connection.pending, chunk]);
    while (answerOne(connection, socket));
  });
  socket.on("error", () => socket.destroy());
  socket.on("close", () => clearInterval(connection.timer ?? undefined));
});
server.listen(0, "127.0.0.1", () => {
  console.log(JSON.stringify({ port: (server.address() as AddressInfo).port }));
});
process.on("SIGTERM", () => process.exit(0));

/** Answers the first whole request of what has come; false when there is none. */
function answerOne(connection: Connection, socket: Socket): boolean {
  const { pending } = connection;
  if (pending.length === 0 || pending.length < connection.needed) return false;
  const headEnd = pending.indexOf(HEAD_END);
  if (headEnd === -1) return false;
  const length = LENGTH.exec(pending.toString("latin1", 0, headEnd));
  const total = headEnd + HEAD_END.length + Number(length?.[1] ?? "0");
  if (pending.length < total) {
    connection.needed = total;
    return false;
  }
  const request = pending.subarray(headEnd, total);
  connection.pending = pending.subarray(total);
  connection.needed = 0;
  if (!request.includes(STREAM_FLAG)) socket.write(json);
  else if (request.includes(HOLD_FLAG)) hold(connection, socket);
  // One write per event, as a model server sends them.
  else for (const frame of stream) socket.write(frame);
  return true;
}

function hold(connection: Connection, socket: Socket): void {
  socket.write(heldHead);
  connection.timer = setInterval(() => socket.write(heldChunk), HELD_CHUNK_INTERVAL_MS);
}
