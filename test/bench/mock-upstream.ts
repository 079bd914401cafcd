/**
 * The model server of the benchmarks: as cheap as Node can make it, so that what is measured is in front of it. Answers
 * are made once; a request is read only as far as its length. A process of its own: prints its port, ends on SIGTERM.
 */
import { type AddressInfo, createServer, type Socket } from "node:net";

/** SSE events of one streamed answer: role, text deltas, finish, usage, `[DONE]`. */
const TEXT_CHUNKS = Number(process.argv[2] ?? "100");
const HELD_CHUNK_INTERVAL_MS = 1_000;

const HEAD_END = Buffer.from("\r\n\r\n");
const STREAM_FLAG = Buffer.from('"stream":true');
const HOLD_FLAG = Buffer.from('"x_hold":true');
const LENGTH = /\r\ncontent-length: *(\d+)/iu;

const JSON_ANSWER = formatJsonAnswer();
const STREAM_HEAD = Buffer.from(
  "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n",
);
const DELTA = formatFrame(
  formatEvent({ choices: [{ index: 0, delta: { content: " word" }, finish_reason: null }] }),
);
const STREAM_FRAMES = formatStreamFrames();

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
  if (!request.includes(STREAM_FLAG)) socket.write(JSON_ANSWER);
  else if (request.includes(HOLD_FLAG)) hold(connection, socket);
  // One write per event, as a model server sends them.
  else for (const frame of STREAM_FRAMES) socket.write(frame);
  return true;
}

function hold(connection: Connection, socket: Socket): void {
  socket.write(STREAM_HEAD);
  socket.write(DELTA);
  connection.timer = setInterval(() => socket.write(DELTA), HELD_CHUNK_INTERVAL_MS);
}

/** A JSON answer with about 1,024 bytes of body. */
function formatJsonAnswer(): Buffer {
  const message = { role: "assistant", content: "word ".repeat(136) };
  const body = JSON.stringify({
    id: "chatcmpl-bench",
    object: "chat.completion",
    created: 1_790_000_000,
    model: "mock",
    choices: [{ index: 0, message, finish_reason: "stop" }],
    usage: { prompt_tokens: 200, completion_tokens: 136, total_tokens: 336 },
  });
  const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
  return Buffer.from(head + body);
}

function formatStreamFrames(): Buffer[] {
  const role = { choices: [{ index: 0, delta: { role: "assistant", content: "" }, finish_reason: null }] };
  const usage = { prompt_tokens: 200, completion_tokens: TEXT_CHUNKS, total_tokens: 200 + TEXT_CHUNKS };
  return [
    Buffer.concat([STREAM_HEAD, formatFrame(formatEvent(role))]),
    ...Array.from({ length: TEXT_CHUNKS }, () => DELTA),
    formatFrame(formatEvent({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] })),
    formatFrame(formatEvent({ choices: [], usage })),
    Buffer.concat([formatFrame("data: [DONE]\n\n"), Buffer.from("0\r\n\r\n")]),
  ];
}

function formatEvent(fields: object): string {
  const common = {
    id: "chatcmpl-bench",
    object: "chat.completion.chunk",
    created: 1_790_000_000,
    model: "mock",
  };
  return `data: ${JSON.stringify({ ...common, ...fields })}\n\n`;
}

function formatFrame(text: string): Buffer {
  return Buffer.from(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`);
}
