/** Clients that begin requests without end and take each back at once, with keys that nobody has if not with another. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { createKey } from "../../../src/data-path/auth/key-format.ts";
import { ERROR, FLAG, formatFrame, formatReset, FRAME } from "../../../src/envoy/transport/wire/frames.ts";
import { encodeHeaderBlock } from "../../../src/envoy/transport/wire/hpack.ts";
import { formatGreeting } from "../../support/wire-client.ts";

const CHAT_PATH = "/v1/chat/completions";
/** So many at a time: a machine takes no more new connections than its backlog holds. */
const CONNECTING_AT_ONCE = 50;

/** Over HTTP/2: on each connection so many times HEADERS with RST_STREAM behind it, all in one write. */
export async function floodWithResets(
  port: number,
  connections: number,
  resetsEach: number,
  nextKey: () => string = createKey,
): Promise<void> {
  const sockets = await Promise.all(Array.from({ length: connections }, () => open(port)));
  const pieces = Array.from({ length: resetsEach }, (_, index) => formatTakenBack(2 * index + 1, nextKey()));
  const bytes = Buffer.concat([formatGreeting(), ...pieces]);
  await Promise.all(
    sockets.map(async (socket) => {
      const closed = untilClosed(socket);
      // Envoy has read all of it by the time that it answers our end, or has closed the connection before.
      socket.end(bytes);
      await closed;
    }),
  );
}

/** Over HTTP/1.1: connections that close behind the headers of one request. */
export async function floodWithCloses(
  port: number,
  connections: number,
  nextKey: () => string = createKey,
): Promise<void> {
  let left = connections;
  const work = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const socket = await open(port);
      const closed = untilClosed(socket);
      socket.write(formatHead(nextKey()), () => socket.resetAndDestroy());
      await closed;
    }
  };
  await Promise.all(Array.from({ length: CONNECTING_AT_ONCE }, work));
}

/** Whether by an end or a reset: Envoy resets what it has not read all of. */
function untilClosed(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.once("close", () => resolve()));
}

async function open(port: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  // What Envoy ends, it may end in the middle of a write.
  socket.on("error", () => {});
  socket.resume();
  await once(socket, "connect");
  return socket;
}

function formatTakenBack(streamId: number, key: string): Buffer {
  const block = encodeHeaderBlock([
    [":method", "POST"],
    [":scheme", "http"],
    [":path", CHAT_PATH],
    [":authority", "gateway"],
    ["authorization", `Bearer ${key}`],
    ["content-type", "application/json"],
    ["content-length", "100"],
  ]);
  const headers = formatFrame(FRAME.headers, FLAG.endHeaders, streamId, block);
  return Buffer.concat([headers, formatReset(streamId, ERROR.cancel)]);
}

function formatHead(key: string): string {
  const head = [
    `POST ${CHAT_PATH} HTTP/1.1`,
    "host: gateway",
    `authorization: Bearer ${key}`,
    "content-type: application/json",
    "content-length: 100",
  ];
  return `${head.join("\r\n")}\r\n\r\n`;
}
