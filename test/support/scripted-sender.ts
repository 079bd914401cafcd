import type { ServerResponse } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { createGzip, gzipSync } from "node:zlib";
import { isGate, type Piece, readReportedUsage, type ScriptedAnswer } from "./scripted-answer.ts";
import type { RecordedRequest } from "./upstream.ts";

type Part<Kind extends ScriptedAnswer["kind"]> = Extract<ScriptedAnswer, { kind: Kind }>;

/** Carries out one answer of the scripted upstream. Resolves when there is nothing more to send. */
export async function sendAnswer(
  answer: ScriptedAnswer,
  request: RecordedRequest,
  response: ServerResponse,
): Promise<void> {
  switch (answer.kind) {
    case "json":
      return sendJson(answer, request, response);
    case "events":
      return sendEvents(answer, request, response);
    case "bytes":
      return sendBytes(answer, request, response);
    case "reset":
      return cutHead(request, response);
    case "hang":
      return;
    case "echo":
      throw new Error("an echo is made into another answer before it is sent");
  }
}

async function holdBack(before: Part<"json">["before"]): Promise<void> {
  if (typeof before === "number") await wait(before);
  else if (before !== undefined) await before.opened;
}

async function sendJson(
  answer: Part<"json">,
  request: RecordedRequest,
  response: ServerResponse,
): Promise<void> {
  await holdBack(answer.before);
  const plain = Buffer.from(JSON.stringify(answer.body));
  const bytes = answer.gzip === true ? gzipSync(plain) : plain;
  response.writeHead(answer.status ?? 200, {
    "content-type": "application/json",
    "content-length": String(bytes.length),
    ...(answer.gzip === true ? { "content-encoding": "gzip" } : {}),
    ...(answer.headers as Record<string, string>),
  });
  request.reported = readReportedUsage([answer.body]);
  await new Promise<void>((resolve) => {
    response.on("close", resolve);
    response.end(bytes, () => resolve());
  });
}

async function sendEvents(
  answer: Part<"events">,
  request: RecordedRequest,
  response: ServerResponse,
): Promise<void> {
  const sent: object[] = [];
  const pieces: Piece[] = answer.events.map((event) =>
    isGate(event) ? event : `data: ${JSON.stringify(event)}\n\n`,
  );
  if (answer.done !== false) pieces.push("data: [DONE]\n\n");
  const packed = answer.gzip === true ? [await gzip(pieces)] : pieces;
  await holdBack(answer.before);
  response.writeHead(answer.status ?? 200, {
    "content-type": "text/event-stream",
    "cache-control": "no-cache",
    ...(answer.gzip === true ? { "content-encoding": "gzip" } : {}),
    ...(answer.headers as Record<string, string>),
  });
  await writePieces(packed, response, (index) => {
    const event = answer.events[index];
    if (event !== undefined && !isGate(event)) sent.push(event);
    request.reported = readReportedUsage(answer.gzip === true ? answer.events : sent);
  });
  await finish(answer.ending, request, response);
}

async function sendBytes(
  answer: Part<"bytes">,
  request: RecordedRequest,
  response: ServerResponse,
): Promise<void> {
  await holdBack(answer.before);
  response.writeHead(answer.status ?? 200, answer.headers as Record<string, string>);
  await writePieces(answer.pieces, response, (index) => {
    if (index === answer.pieces.length - 1) request.reported = answer.usage ?? null;
  });
  await finish(answer.ending, request, response);
}

async function writePieces(
  pieces: readonly Piece[],
  response: ServerResponse,
  onSent: (index: number) => void,
): Promise<void> {
  response.flushHeaders();
  for (const [index, piece] of pieces.entries()) {
    if (isGate(piece)) {
      const closed = new Promise<void>((resolve) => {
        response.once("close", resolve);
      });
      await Promise.race([piece.opened, closed]);
      continue;
    }
    if (response.destroyed) return;
    await new Promise<void>((resolve) => {
      response.once("close", resolve);
      response.write(piece, () => {
        response.off("close", resolve);
        resolve();
      });
    });
    onSent(index);
  }
}

async function finish(
  ending: "end" | "reset" | "hang" | undefined,
  request: RecordedRequest,
  response: ServerResponse,
): Promise<void> {
  if (response.destroyed) return;
  if (ending === "reset") cut(request, response);
  else if (ending !== "hang") response.end();
}

function cut(request: RecordedRequest, response: ServerResponse): void {
  request.state = "cut";
  const { socket } = response;
  // A reset (RST), not an orderly end, which an HTTP/1.1 peer could take for the end of the body.
  if (socket !== null && "resetAndDestroy" in socket) socket.resetAndDestroy();
  else response.destroy();
}

/** An orderly end: a reset takes with it what has not been read yet. */
function cutHead(request: RecordedRequest, response: ServerResponse): void {
  request.state = "cut";
  response.socket?.end("HTTP/1.1 ");
}

async function gzip(pieces: readonly Piece[]): Promise<Uint8Array> {
  const stream = createGzip();
  for (const piece of pieces) if (!isGate(piece)) stream.write(piece);
  stream.end();
  const chunks: Buffer[] = [];
  for await (const chunk of stream as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}
