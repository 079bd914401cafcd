/** One call of a client that does as it likes: over HTTP/1.1 on a connection of its own, over HTTP/2 on a shared one. */
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect as connectHttp2,
  constants,
} from "node:http2";
import { connect, type Socket } from "node:net";
import type { Target } from "./attack.ts";

export interface CallOptions {
  readonly method?: string;
  readonly path?: string;
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Null: it is not said. */
  readonly length: number | null;
  /** On a connection of its own. */
  readonly isAlone?: boolean;
}

export interface RawCall {
  /** Resolves when it has left, or when nobody takes it any more. */
  write(bytes: Uint8Array): Promise<void>;
  end(): void;
  /** Nothing more is read. */
  stopReading(): void;
  /** Takes it back. */
  leave(): void;
  /** The first piece of an answer has come, or there will be none. */
  readonly begun: Promise<void>;
  /** It is over, however; resolves with the beginning of what came. */
  readonly over: Promise<string>;
}

const KEPT_CHARACTERS = 2_000;
/** Of what hangs an attack does not wait for longer. */
const GIVEN_UP_MS = { long: 60_000, short: 10_000 };
const { NGHTTP2_CANCEL } = constants;
const SHARED_BYTES = 65_000;
/** On one connection: Envoy ends one of which a hundred are taken back. */
const CALLS_OF_A_CONNECTION = 60;

export function openCall(target: Target, options: CallOptions): RawCall {
  const call = target.http === "HTTP/1.1" ? openHttp1(target, options) : openHttp2(target, options);
  const givenUpMs = target.isLong ? GIVEN_UP_MS.long : GIVEN_UP_MS.short;
  const timer = setTimeout(() => call.leave(), givenUpMs);
  void call.over.then(() => clearTimeout(timer));
  return call;
}

/** A whole request; resolves with the beginning of its answer. */
export async function sendCall(
  target: Target,
  { body, ...options }: Omit<CallOptions, "length"> & { readonly body?: string | Uint8Array },
): Promise<string> {
  const bytes = Buffer.from(body ?? "");
  const call = openCall(target, { ...options, length: bytes.length });
  if (bytes.length > 0) await Promise.race([call.write(bytes), call.over]);
  call.end();
  return await call.over;
}

function headersOf({ key, headers }: CallOptions): Record<string, string> {
  const credential = key === undefined ? {} : { authorization: `Bearer ${key}` };
  return { ...credential, "content-type": "application/json", ...headers };
}

function openHttp1({ port }: Target, options: CallOptions): RawCall {
  const { method = "POST", path = "/v1/chat/completions", length } = options;
  const socket = connect(port, "127.0.0.1");
  const framing = length === null ? "transfer-encoding: chunked" : `content-length: ${length}`;
  const fields = Object.entries(headersOf(options)).map(([name, value]) => `${name}: ${value}`);
  const head = [`${method} ${path} HTTP/1.1`, "host: gateway", "connection: close", framing, ...fields];
  socket.write(`${head.join("\r\n")}\r\n\r\n`);
  const chunked = (bytes: Uint8Array): Uint8Array =>
    Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from("\r\n")]);
  return {
    ...readAll(socket),
    write: (bytes) => writeAll(socket, length === null ? chunked(bytes) : bytes),
    // A half-closed connection is one that has gone, for Envoy.
    end: () => void (length === null && socket.write("0\r\n\r\n")),
    stopReading: () => void socket.pause(),
    leave: () => void socket.destroy(),
  };
}

interface SharedConnection {
  readonly http2: ClientHttp2Session;
  calls: number;
  open: number;
}

let shared: SharedConnection | null = null;

function connectOne(port: number): SharedConnection {
  const http2 = connectHttp2(`http://127.0.0.1:${port}`);
  http2.on("error", () => undefined);
  return { http2, calls: 0, open: 0 };
}

/** What waits for its body or for its reader has a connection of its own: on a shared one it would stop its own side. */
function chooseConnection(port: number, { length, isAlone = false }: CallOptions): SharedConnection {
  if (isAlone || length === null || length > SHARED_BYTES) {
    return { ...connectOne(port), calls: CALLS_OF_A_CONNECTION };
  }
  const { http2, calls } = shared ?? {};
  if (http2 === undefined || http2.destroyed || http2.closed || (calls ?? 0) >= CALLS_OF_A_CONNECTION) {
    shared = connectOne(port);
  }
  return (shared ??= connectOne(port));
}

function openHttp2({ port }: Target, options: CallOptions): RawCall {
  const { method = "POST", path = "/v1/chat/completions", length } = options;
  const own = chooseConnection(port, options);
  own.calls += 1;
  own.open += 1;
  const said = length === null ? {} : { "content-length": String(length) };
  const stream = own.http2.request(
    { ":method": method, ":path": path, ...headersOf(options), ...said },
    { endStream: false },
  );
  stream.on("close", () => {
    own.open -= 1;
    // The last one of a connection that has had its calls.
    if (own.open === 0 && own.calls >= CALLS_OF_A_CONNECTION) own.http2.destroy();
  });
  return {
    ...readAll(stream),
    write: (bytes) => writeAll(stream, bytes),
    end: () => void stream.end(),
    stopReading: () => void stream.pause(),
    leave: () => {
      stream.close(NGHTTP2_CANCEL);
      // What is not read would keep it open.
      stream.destroy();
    },
  };
}

/** Ends what is left of the connections. */
export function closeConnections(): void {
  shared?.http2.destroy();
  shared = null;
}

function readAll(stream: Socket | ClientHttp2Stream): Pick<RawCall, "begun" | "over"> {
  let text = "";
  let begin: () => void = () => undefined;
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  stream.on("response", (headers: Record<string, unknown>) => {
    text += `HTTP/2 ${String(headers[":status"])}\n`;
  });
  stream.on("data", (piece: Buffer) => {
    begin();
    if (text.length < KEPT_CHARACTERS) text += piece.toString("latin1");
  });
  stream.on("error", () => undefined);
  const over = new Promise<string>((resolve) => {
    stream.on("close", () => {
      begin();
      resolve(text.slice(0, KEPT_CHARACTERS));
    });
  });
  return { begun, over };
}

/** No faster than it is taken. */
async function writeAll(stream: Socket | ClientHttp2Stream, bytes: Uint8Array): Promise<void> {
  if (stream.destroyed || !stream.writable) return;
  if (stream.write(bytes)) return;
  await new Promise<void>((resolve) => {
    const done = (): void => {
      stream.off("drain", done);
      stream.off("close", done);
      resolve();
    };
    stream.on("drain", done);
    stream.on("close", done);
  });
}
