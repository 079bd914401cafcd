/** Attacks that need no request: connections, resets, headers and bytes that are no HTTP. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { createKey } from "../../../src/data-path/auth/key-format.ts";
import { FLAG, formatFrame, FRAME, PREFACE } from "../../../src/envoy/transport/wire/frames.ts";
import { floodWithCloses, floodWithResets } from "../../envoy/edge/reset-flood.ts";
import { formatCall, formatGreeting } from "../../support/wire-client.ts";
import { type Attack, repeat, type Target } from "./attack.ts";
import { openCall, sendCall } from "./raw-call.ts";

async function reset({ http, port, isLong }: Target, nextKey: () => string): Promise<void> {
  if (http === "HTTP/1.1") return floodWithCloses(port, isLong ? 8_000 : 1_500, nextKey);
  await floodWithResets(port, isLong ? 45 : 10, 300, nextKey);
  // None of them has so many that Envoy ends it.
  await floodWithResets(port, isLong ? 400 : 30, 99, nextKey);
}

/** Known keys as well as made-up ones, whose checksum is right. */
const resetsWithoutKey: Attack = (target) => reset(target, createKey);
const resetsWithKey: Attack = (target) => reset(target, () => target.keys.roomy);

const openedAndClosed: Attack = ({ port, isLong }) =>
  repeat(isLong ? 10_000 : 1_500, 50, async () => {
    const socket = await open(port);
    await close(socket);
  });

/** Of all kinds: without a byte, in the middle of a line, behind HTTP/2's preface. */
const silent: Attack = async ({ port, isLong }) => {
  const beginnings = ["", "POST /v1/chat/comp", "POST / HTTP/1.1\r\nhost: a\r\nx-a: ", formatGreeting()];
  const sockets: Socket[] = [];
  await repeat(isLong ? 2_000 : 400, 50, async (index) => {
    const socket = await open(port);
    const beginning = beginnings[index % beginnings.length] ?? "";
    if (beginning.length > 0) socket.write(beginning);
    sockets.push(socket);
  });
  await wait(isLong ? 5_000 : 1_000);
  await Promise.all(sockets.map(close));
};

const HUGE: readonly ((index: number) => Record<string, string>)[] = [
  () => ({ large: "x".repeat(55_000) }),
  () => ({ large: "x".repeat(90_000) }),
  (index) => Object.fromEntries(Array.from({ length: 95 }, (_, at) => [`x-${index}-${at}`, "y".repeat(500)])),
  () => Object.fromEntries(Array.from({ length: 150 }, (_, at) => [`x-${at}`, "y"])),
  () => ({ cookie: "a=b; ".repeat(8_000) }),
  () => ({ "x-tags": "a=b,".repeat(10_000) }),
  () => ({ authorization: `Bearer ${"k".repeat(50_000)}` }),
];

const hugeHeaders: Attack = (target) =>
  repeat(target.isLong ? 1_500 : 280, 16, (index) =>
    sendCall(target, {
      method: "GET",
      path: "/v1/models",
      key: target.keys.roomy,
      headers: HUGE[index % HUGE.length]?.(index) ?? {},
    }),
  );

const REQUEST_LINE = "POST /v1/chat/completions HTTP/1.1\r\nhost: gateway\r\n";
/** What no client of HTTP/1.1 sends. */
const BAD_HTTP1: readonly string[] = [
  "\0\0\0\0",
  "GET / HTTP/1.0\r\n\r\n",
  "GET  HTTP/1.1\r\nhost: a\r\n\r\n",
  "GET / HTTP/9.9\r\nhost: a\r\n\r\n",
  "GET / HTTP/1.1\r\n\r\n",
  "CONNECT evil:443 HTTP/1.1\r\nhost: evil\r\n\r\n",
  "OPTIONS * HTTP/1.1\r\nhost: a\r\n\r\n",
  `${REQUEST_LINE}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\nGET /v1/models HTTP/1.1\r\n\r\n`,
  `${REQUEST_LINE}content-length: 5\r\ncontent-length: 6\r\n\r\nabcde`,
  `${REQUEST_LINE}content-length: -1\r\n\r\n`,
  `${REQUEST_LINE}content-length: 99999999999999999999\r\n\r\n`,
  `${REQUEST_LINE}transfer-encoding: chunked\r\n\r\nzz\r\n`,
  `${REQUEST_LINE}transfer-encoding: chunked\r\n\r\nffffffffffffffff1\r\nabc`,
  `${REQUEST_LINE}transfer-encoding: xchunked\r\n\r\n`,
  `${REQUEST_LINE}upgrade: websocket\r\nconnection: upgrade\r\n\r\n`,
  `${REQUEST_LINE}expect: 200-maybe\r\ncontent-length: 2\r\n\r\n{}`,
  `${REQUEST_LINE}bad header\r\n\r\n`,
  `${REQUEST_LINE}x-a: b\r\n folded: c\r\n\r\n`,
  `${REQUEST_LINE}x\0y: z\r\n\r\n`,
  "GET http://evil/v1/models HTTP/1.1\r\nhost: a\r\n\r\n",
  `GET /${"a/../".repeat(2_000)} HTTP/1.1\r\nhost: a\r\n\r\n`,
  "GET /%2e%2e/%00 HTTP/1.1\r\nhost: a\r\n\r\n",
];

const frames = (...parts: readonly Buffer[]): Buffer => Buffer.concat([formatGreeting(), ...parts]);
const empty = Buffer.alloc(0);
const many = (count: number, frame: Buffer): Buffer =>
  Buffer.concat(Array.from({ length: count }, () => frame));
/** What no client of HTTP/2 sends: RFC 9113's errors, and floods of what costs nothing to send. */
const BAD_HTTP2: readonly Buffer[] = [
  Buffer.concat([PREFACE, Buffer.from("no frame at all".repeat(50))]),
  frames(many(20_000, formatFrame(FRAME.ping, 0, 0, Buffer.alloc(8)))),
  frames(many(20_000, formatFrame(FRAME.settings, 0, 0, empty))),
  frames(formatCall(1, "/v1/chat/completions"), many(20_000, formatFrame(FRAME.data, 0, 1, empty))),
  frames(many(20_000, formatFrame(FRAME.priority, 0, 1, Buffer.from([0, 0, 0, 3, 1])))),
  frames(many(5_000, formatFrame(FRAME.windowUpdate, 0, 0, Buffer.from([0, 0, 0, 1])))),
  frames(formatFrame(FRAME.windowUpdate, 0, 0, Buffer.from([0x7f, 0xff, 0xff, 0xff]))),
  // A header block that has no end.
  frames(
    formatFrame(FRAME.headers, 0, 1, empty),
    many(5_000, formatFrame(FRAME.continuation, 0, 1, Buffer.from([0x00, 0x01, 0x61, 0x01, 0x62]))),
  ),
  frames(formatFrame(FRAME.headers, FLAG.endHeaders, 1, Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff, 0xff]))),
  frames(formatFrame(FRAME.headers, FLAG.endHeaders, 2, empty)),
  frames(formatFrame(FRAME.data, 0, 5, Buffer.from("for nobody"))),
  frames(formatFrame(FRAME.rstStream, 0, 7, Buffer.alloc(4))),
  frames(formatFrame(FRAME.pushPromise, FLAG.endHeaders, 1, Buffer.alloc(4))),
  frames(formatCall(3, "/v1/chat/completions"), formatCall(1, "/v1/chat/completions")),
];

const badHttp: Attack = ({ http, port, isLong }) => {
  const kinds: readonly (string | Buffer)[] = http === "HTTP/1.1" ? BAD_HTTP1 : BAD_HTTP2;
  return repeat(kinds.length * (isLong ? 60 : 8), 20, async (index) => {
    const socket = await open(port);
    socket.write(kinds[index % kinds.length] ?? "");
    // What Envoy has to say to it, or to nothing behind it.
    await Promise.race([once(socket, "readable"), once(socket, "close"), wait(500)]);
    await close(socket);
  });
};

/** More than one of a connection at a time, each of a made-up key. */
const wrongKeys: Attack = (target) =>
  repeat(target.isLong ? 6_000 : 800, 32, async (index) => {
    const call = openCall(target, { key: index % 3 === 0 ? "nonsense" : createKey(), length: 2 });
    await call.write(Buffer.from("{}"));
    call.end();
    await call.over;
  });

async function open(port: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => undefined);
  socket.resume();
  await Promise.race([once(socket, "connect"), once(socket, "close")]);
  return socket;
}

async function close(socket: Socket): Promise<void> {
  if (socket.destroyed) return;
  const closed = once(socket, "close");
  socket.destroy();
  await closed;
}

export const CONNECTION_ATTACKS = {
  "resets without a key": resetsWithoutKey,
  "resets with a key": resetsWithKey,
  "connections opened and closed": openedAndClosed,
  "silent connections": silent,
  "huge headers": hugeHeaders,
  "bad HTTP": badHttp,
  "made-up keys": wrongKeys,
} satisfies Record<string, Attack>;
