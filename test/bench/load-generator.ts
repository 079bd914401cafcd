/** The load generator for machines without a C compiler: one request in flight per connection, answers read to their end. */
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import type { LoadOptions, RawLoadResult } from "./load.ts";

const options = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8")) as LoadOptions & {
  readonly request: string;
  readonly keysFile: string | null;
};
const url = new URL(options.url);
const REQUEST = Buffer.from(options.request);
const KEYS = options.keysFile === null ? [] : readFileSync(options.keysFile, "latin1").trimEnd().split("\n");
const KEY_PLACE = REQUEST.indexOf("{key");
let nextKey = 0;
const STATUS = /^HTTP\/1\.1 (\d{3})/u;
const LENGTH = /\r\ncontent-length: *(\d+)/iu;
const CHUNKED_END = "0\r\n\r\n";
/** For answers that are on their way when the time is over. */
const DRAIN_MS = 5_000;

const latenciesMs: number[] = [];
const counts = { statusErrors: 0, socketErrors: 0, open: 0, unsent: options.requests ?? Infinity };
const pauseMs = options.pauseMs ?? 0;
const startedMs = performance.now();
const endMs = startedMs + options.seconds * 1000;
let lastAnswerMs = startedMs;

for (let index = 0; index < options.connections; index += 1) openConnection();
setTimeout(report, options.seconds * 1000 + DRAIN_MS).unref();

interface ConnectionState {
  received: string;
  sentMs: number;
  /** It sends nothing more. */
  isDone: boolean;
}

function openConnection(): void {
  const socket = connect(Number(url.port), url.hostname);
  const state: ConnectionState = { received: "", sentMs: 0, isDone: false };
  counts.open += 1;
  socket.setNoDelay(true);
  socket.on("connect", () => sendNext(socket, state));
  socket.on("data", (chunk) => {
    state.received += chunk.toString("latin1");
    if (!isWhole(state.received)) return;
    lastAnswerMs = performance.now();
    latenciesMs.push(lastAnswerMs - state.sentMs);
    if (Number(STATUS.exec(state.received)?.[1] ?? 0) >= 400) counts.statusErrors += 1;
    state.received = "";
    const dueMs = pauseMs > 0 ? state.sentMs + pauseMs : lastAnswerMs;
    if (dueMs >= endMs) end(socket, state);
    else if (dueMs > lastAnswerMs) setTimeout(sendNext, dueMs - lastAnswerMs, socket, state);
    else sendNext(socket, state);
  });
  socket.on("error", () => {
    counts.socketErrors += 1;
  });
  socket.on("close", () => {
    counts.open -= 1;
    if (!state.isDone && performance.now() < endMs && counts.unsent > 0) openConnection();
    else if (counts.open === 0) report();
  });
}

function end(socket: Socket, state: ConnectionState): void {
  state.isDone = true;
  socket.destroy();
}

function sendNext(socket: Socket, state: ConnectionState): void {
  state.sentMs = performance.now();
  if (state.sentMs >= endMs || counts.unsent === 0) {
    end(socket, state);
    return;
  }
  counts.unsent -= 1;
  const key = KEYS[nextKey++ % Math.max(1, KEYS.length)];
  const request = key === undefined ? REQUEST : Buffer.from(REQUEST);
  if (key !== undefined) request.write(key, KEY_PLACE, "latin1");
  socket.write(request);
}

function isWhole(answer: string): boolean {
  const headEnd = answer.indexOf("\r\n\r\n");
  if (headEnd === -1) return false;
  const length = LENGTH.exec(answer.slice(0, headEnd));
  if (length === null) return answer.endsWith(CHUNKED_END);
  return answer.length >= headEnd + 4 + Number(length[1]);
}

function report(): void {
  latenciesMs.sort((a, b) => a - b);
  const at = (part: number): number => latenciesMs[Math.floor(latenciesMs.length * part)] ?? 0;
  const result: RawLoadResult = {
    requests: latenciesMs.length,
    seconds: (lastAnswerMs - startedMs) / 1000,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    statusErrors: counts.statusErrors,
    socketErrors: counts.socketErrors,
  };
  console.log(JSON.stringify(result));
  process.exit(0);
}
