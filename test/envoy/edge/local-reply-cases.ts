/** The table of replies that Envoy makes by itself: how each is brought about, and what a client must read. */
import type { ErrorCode } from "../../../src/shared/contract/errors.ts";
import type { Edge } from "./edge.ts";
import { send, sendRaw } from "./raw-client.ts";
import type { RawResponse } from "./raw-client.ts";
import { goOn, passOn, route } from "./sidecar-stand-in.ts";

const AUTHORIZED = { authorization: "Bearer good" };

/** Who has given the request its id and its remaining: an admission, Envoy by its headers, or Envoy without them. */
type Seen = "admitted" | "headers" | "nothing";

/** What a client reads when the sidecar is gone or late after the admission. */
export const LOST = "The gateway lost this request. Try again in a moment.";

export interface LocalReplyCase {
  readonly name: string;
  readonly code: ErrorCode;
  readonly message?: string;
  readonly seen: Seen;
  /** Before its headers are read, a request belongs to no route. */
  readonly hasRoute?: false;
  readonly act: (edge: Edge, path: string) => Promise<RawResponse>;
}

/** A request with a good key. */
export const post = (edge: Edge, path: string, body = "{}"): Promise<RawResponse> =>
  send(edge.port, "POST", path, AUTHORIZED, body);
/** Request line and headers, with a good key, up to the empty line. */
export const head = (path: string, ...lines: string[]): string =>
  [`POST ${path} HTTP/1.1`, "host: a", "authorization: Bearer good", ...lines].join("\r\n") + "\r\n";
const viaUpstream = (name: string) => (edge: Edge, path: string) => {
  edge.sidecar.onProcess = (message) =>
    message.request_body ? route(message, name, "/v1/chat/completions") : passOn(message);
  return post(edge, path);
};

const NOT_HTTP = "The request is not valid HTTP. Check its request line, Host header, path and body framing.";

/** Brought about by a request, an upstream or the sidecar's answers. */
export const LOCAL_REPLY_CASES: readonly LocalReplyCase[] = [
  {
    name: "headers over the limit",
    code: "request_header_fields_too_large",
    seen: "nothing",
    hasRoute: false,
    act: (edge, path) => send(edge.port, "POST", path, { ...AUTHORIZED, large: "x".repeat(70_000) }),
  },
  {
    name: "too many headers",
    code: "request_header_fields_too_large",
    seen: "nothing",
    hasRoute: false,
    act: (edge, path) =>
      send(
        edge.port,
        "POST",
        path,
        Object.fromEntries(Array.from({ length: 110 }, (_, n) => [`h${n}`, "1"])),
      ),
  },
  {
    name: "Upgrade: websocket",
    code: "upgrade_not_supported",
    seen: "headers",
    act: (edge, path) =>
      send(edge.port, "GET", path, { ...AUTHORIZED, connection: "upgrade", upgrade: "websocket" }),
  },
  {
    name: "Upgrade: websocket on the responses route",
    code: "websocket_not_supported",
    seen: "headers",
    hasRoute: false,
    act: (edge) =>
      send(edge.port, "GET", "/v1/responses?client_version=1", {
        ...AUTHORIZED,
        connection: "upgrade",
        upgrade: "websocket",
      }),
  },
  {
    name: "HTTP/1.0",
    code: "upgrade_not_supported",
    message: "HTTP/1.0 is not supported. Use HTTP/1.1 or HTTP/2.",
    seen: "nothing",
    hasRoute: false,
    act: (edge, path) => sendRaw(edge.port, `POST ${path} HTTP/1.0\r\nhost: a\r\n\r\n`),
  },
  {
    name: "no Host",
    code: "invalid_parameter",
    message: NOT_HTTP,
    seen: "nothing",
    act: (edge, path) => sendRaw(edge.port, `POST ${path} HTTP/1.1\r\ncontent-length: 0\r\n\r\n`),
  },
  {
    name: "two Hosts",
    code: "invalid_parameter",
    message: NOT_HTTP,
    seen: "headers",
    act: (edge, path) => sendRaw(edge.port, `${head(path, "host: b", "content-length: 0")}\r\n`),
  },
  {
    name: "a request line that is none",
    code: "invalid_parameter",
    message: NOT_HTTP,
    seen: "nothing",
    hasRoute: false,
    act: (edge) => sendRaw(edge.port, "BOGUS\r\n\r\n"),
  },
  {
    name: "a chunk size that is none",
    code: "invalid_parameter",
    message: NOT_HTTP,
    seen: "headers",
    act: (edge, path) => sendRaw(edge.port, `${head(path, "transfer-encoding: chunked")}\r\nzz\r\n`),
  },
  {
    name: "content-length and chunked at once",
    code: "invalid_parameter",
    message: NOT_HTTP,
    seen: "nothing",
    hasRoute: false,
    act: (edge, path) =>
      sendRaw(edge.port, `${head(path, "transfer-encoding: chunked", "content-length: 4")}\r\n0\r\n\r\n`),
  },
  {
    name: "an unknown transfer-encoding",
    code: "invalid_parameter",
    message: NOT_HTTP,
    seen: "nothing",
    hasRoute: false,
    act: (edge, path) => sendRaw(edge.port, `${head(path, "transfer-encoding: gzip")}\r\n`),
  },
  {
    name: "headers that come too slowly",
    code: "request_timeout",
    seen: "nothing",
    hasRoute: false,
    act: (edge, path) => sendRaw(edge.port, head(path)),
  },
  {
    name: "a body that comes too slowly",
    code: "request_timeout",
    seen: "admitted",
    act: (edge, path) => sendRaw(edge.port, `${head(path, "content-length: 10")}\r\nab`),
  },
  {
    name: "a sidecar that does not answer ext_authz",
    code: "gateway_unavailable",
    seen: "headers",
    act: (edge, path) => {
      edge.sidecar.onCheck = () => new Promise<object>(() => undefined);
      return post(edge, path);
    },
  },
  {
    name: "a sidecar that lives and never answers ext_proc",
    code: "upstream_timeout",
    seen: "admitted",
    act: (edge, path) => {
      edge.sidecar.onProcess = () => null;
      return post(edge, path);
    },
  },
  {
    name: "an ext_proc call that fails",
    code: "internal_error",
    seen: "admitted",
    act: (edge, path) => {
      edge.sidecar.onProcess = (_message, stream) => {
        stream.emit("error", Object.assign(new Error("broken"), { code: 13 }));
        return null;
      };
      return post(edge, path);
    },
  },
  {
    name: "an ext_proc call that ends before its reply",
    code: "internal_error",
    seen: "admitted",
    act: (edge, path) => {
      edge.sidecar.onProcess = (_message, stream) => {
        stream.end();
        return null;
      };
      return post(edge, path);
    },
  },
  {
    name: "a request that ext_proc gives no upstream",
    code: "internal_error",
    seen: "admitted",
    act: (edge, path) => {
      edge.sidecar.onProcess = (message) => (message.request_body ? goOn() : passOn(message));
      return post(edge, path);
    },
  },
  {
    name: "an upstream that is no cluster",
    code: "internal_error",
    seen: "admitted",
    act: viaUpstream("nowhere"),
  },
  {
    name: "an upstream that refuses the connection",
    code: "model_starting",
    seen: "admitted",
    act: viaUpstream("refusing"),
  },
  {
    name: "an upstream without a host",
    code: "model_starting",
    seen: "admitted",
    act: viaUpstream("nameless"),
  },
  {
    name: "an upstream whose credential is not there",
    code: "upstream_authentication_failed",
    seen: "admitted",
    act: viaUpstream("keyless"),
  },
  {
    name: "an upstream that resets the connection",
    code: "upstream_error",
    seen: "admitted",
    act: (edge, path) => {
      edge.upstream.onRequest = (_request, response) => response.destroy();
      return post(edge, path);
    },
  },
  {
    name: "an upstream that does not speak HTTP",
    code: "upstream_error",
    seen: "admitted",
    act: (edge, path) => {
      edge.upstream.onRequest = (_request, response) => void response.socket?.write("garbage\r\n\r\n");
      return post(edge, path);
    },
  },
  {
    name: "an upstream that says nothing",
    code: "upstream_timeout",
    seen: "admitted",
    act: (edge, path) => {
      edge.upstream.onRequest = () => undefined;
      return post(edge, path);
    },
  },
];
