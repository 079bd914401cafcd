/** Uploads that begin and do not end, over HTTP/1.1 and HTTP/2. */
import { once } from "node:events";
import { type ClientHttp2Session, type ClientHttp2Stream, connect as connectHttp2 } from "node:http2";
import { connect, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { onTestFinished } from "vitest";
import { CHAT_PATH } from "../../support/chat-stack.ts";

export type HttpVersion = "HTTP/1.1" | "HTTP/2";

export interface UploadOptions {
  readonly port: number;
  /** Null: none is sent. */
  readonly key: string | null;
  readonly version: HttpVersion;
  readonly method?: string;
  readonly path?: string;
  readonly contentType?: string;
  /** What the whole body has. */
  readonly bytes: number;
  /** So many of them do not come. */
  readonly missingBytes: number;
  /** The length is not said: chunks, or frames until the last one. */
  readonly isOfUnknownLength?: boolean;
}

export interface UnfinishedUpload {
  /** "sent": the kernel has taken all that comes, and nothing is answered so far; else the answer, as it came. */
  readonly outcome: string;
  /** What it is answered in the end. */
  readonly answer: Promise<string>;
  /** Its client goes away. */
  leave(): void;
}

/** Small, so that each turn of the event loop reads answers of all uploads before Envoy resets what it has answered. */
const PIECE = Buffer.alloc(64 * 1024, 0x20);

/** Resolves once all that comes is sent, or Envoy has answered. An unanswered upload is left when the test is finished. */
export async function beginUpload(options: UploadOptions): Promise<UnfinishedUpload> {
  const { body, answer, leave } =
    options.version === "HTTP/1.1" ? await openHttp1(options) : await openHttp2(options);
  onTestFinished(leave);
  const sent = sendPieces(body, options);
  const outcome = await Promise.race([sent, answer]);
  return { outcome, answer, leave };
}

interface Opened {
  readonly body: Pick<Duplex, "write" | "once">;
  readonly answer: Promise<string>;
  readonly leave: () => void;
}

async function sendPieces(
  body: Opened["body"],
  { bytes, missingBytes, version, isOfUnknownLength = false }: UploadOptions,
): Promise<"sent"> {
  const isChunked = version === "HTTP/1.1" && isOfUnknownLength;
  for (let left = bytes - missingBytes; left > 0; left -= PIECE.length) {
    const piece = PIECE.subarray(0, Math.min(left, PIECE.length));
    if (isChunked) body.write(`${piece.length.toString(16)}\r\n`);
    const isTaken = body.write(isChunked ? Buffer.concat([piece, Buffer.from("\r\n")]) : piece);
    if (!isTaken) await new Promise((resolve) => body.once("drain", () => resolve(null)));
    // Node says "drain" at once while the kernel takes all. Clients that only write for longer than Envoy waits for them once
    // it has answered (1 s) meet its reset in a write, and never read their answer.
    await new Promise(setImmediate);
  }
  await new Promise((resolve) => body.write(Buffer.alloc(0), resolve));
  return "sent";
}

async function openHttp1(options: UploadOptions): Promise<Opened> {
  const { port, method = "POST", path = CHAT_PATH, bytes, isOfUnknownLength = false } = options;
  const socket = connect(port, "127.0.0.1");
  const answer = readText(socket, method === "HEAD");
  await once(socket, "connect");
  const length = isOfUnknownLength ? "transfer-encoding: chunked" : `content-length: ${bytes}`;
  const fields = Object.entries(formatHeaders(options)).map(([name, value]) => `${name}: ${value}`);
  const head = [`${method} ${path} HTTP/1.1`, "host: gateway", length, ...fields];
  socket.write(`${head.join("\r\n")}\r\n\r\n`);
  return { body: socket, answer, leave: () => void socket.destroy() };
}

function formatHeaders({ key, contentType = "application/json" }: UploadOptions): Record<string, string> {
  return { ...(key === null ? {} : { authorization: `Bearer ${key}` }), "content-type": contentType };
}

/** Whatever has come by when the answer is whole or the connection ends. */
function readText(socket: Socket, isOfHead: boolean): Promise<string> {
  return new Promise((resolve) => {
    let text = "";
    socket.on("data", (piece: Buffer) => {
      text += piece.toString();
      const [, length] = /content-length: (\d+)/.exec(text) ?? [];
      const end = text.indexOf("\r\n\r\n");
      if (end !== -1 && (isOfHead || text.length >= end + 4 + Number(length))) resolve(text);
    });
    socket.on("error", () => resolve(text));
    socket.on("close", () => resolve(text));
  });
}

async function openHttp2(options: UploadOptions): Promise<Opened> {
  const { port, method = "POST", path = CHAT_PATH, bytes, isOfUnknownLength = false } = options;
  const session = connectHttp2(`http://127.0.0.1:${port}`);
  session.on("error", () => undefined);
  const length = isOfUnknownLength ? {} : { "content-length": String(bytes) };
  const headers = { ":method": method, ":path": path, ...formatHeaders(options), ...length };
  // Else Node ends a GET by its head.
  const stream = session.request(headers, { endStream: false });
  return { body: stream, answer: readAnswer(session, stream), leave: () => session.destroy() };
}

function readAnswer(session: ClientHttp2Session, stream: ClientHttp2Stream): Promise<string> {
  return new Promise((resolve) => {
    let text = "";
    stream.on("response", (headers) => {
      text += `status ${headers[":status"]} `;
    });
    stream.on("data", (piece: Buffer) => {
      text += piece.toString();
    });
    stream.on("end", () => resolve(text));
    stream.on("error", () => resolve(text));
    session.on("close", () => resolve(text));
  });
}
