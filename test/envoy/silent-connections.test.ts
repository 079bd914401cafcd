/** Connections that say nothing, or nothing more, end by themselves: whoever opens many of them keeps none. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { withTimeout } from "../support/wait.ts";
import { startEdge } from "./edge/edge.ts";
import type { Edge } from "./edge/edge.ts";

const CONNECTIONS = 200;
/** HTTP/2's preface and empty SETTINGS. */
const PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";

let edge: Edge;
beforeAll(async () => {
  edge = await startEdge({ timeouts: { requestHeadersSeconds: 1, connectionIdleSeconds: 2 } });
});
afterAll(() => edge.stop());

async function open(): Promise<Socket> {
  const socket = connect(edge.port, "127.0.0.1");
  socket.on("error", () => {});
  socket.resume();
  await once(socket, "connect");
  return socket;
}

/** Envoy may reset it as well, where it has not read all that came. */
function untilClosed(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.once("close", () => resolve()));
}

it.each([
  ["say nothing at all", ""],
  ["begin a request line and stop", "POST /v1/chat/comp"],
  ["begin headers and stop", "POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\nx-a: "],
  ["send HTTP/2's preface and no request", PREFACE],
  ["have had one answer and send no more", "GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n"],
])("connections that %s are closed, and others are answered meanwhile", async (_name, bytes) => {
  const sockets = await Promise.all(Array.from({ length: CONNECTIONS }, open));
  const closed = Promise.all(sockets.map(untilClosed));
  for (const socket of sockets) socket.write(bytes);
  const answer = await fetch(`http://127.0.0.1:${edge.port}/healthz`);
  expect(answer.status).toBe(200);
  await withTimeout("all of them to be closed", closed);
  expect(sockets.every(({ closed: isClosed }) => isClosed)).toBe(true);
});
