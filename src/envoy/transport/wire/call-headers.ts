/** Converts a request's header fields to the properties of a gRPC call, by the rules of RFC 9113, section 8. */
import type { HeaderBlock, HeaderField } from "./hpack.ts";

export interface CallHeaders {
  readonly path: string;
  readonly isGrpc: boolean;
  /** Timeout of the call from its start; null for none. */
  readonly timeoutMs: number | null;
  /** Declared size of all DATA frames; null if not declared. */
  readonly contentLength: number | null;
}

/** Fields of an HTTP/1 connection; a request with them is malformed (section 8.2.2). */
const CONNECTION_FIELDS: ReadonlySet<string> = new Set([
  "connection",
  "proxy-connection",
  "keep-alive",
  "transfer-encoding",
  "upgrade",
]);
const PSEUDO_FIELDS: ReadonlySet<string> = new Set([":method", ":scheme", ":path", ":authority"]);
/** Characters that a field's name must not contain, except a colon as its first character. */
const INVALID_NAME = /[^\x21-\x39\x3b-\x40\x5b-\x7e]/;
// oxlint-disable-next-line no-control-regex -- what RFC 9113, section 8.2.1, forbids
const INVALID_VALUE = /[\0\r\n]|^[ \t]|[ \t]$/;
const TIMEOUT = /^(\d{1,8})([HMSmun])$/;
const MS_PER_UNIT: Readonly<Record<string, number>> = {
  H: 3_600_000,
  M: 60_000,
  S: 1_000,
  m: 1,
  u: 1e-3,
  n: 1e-6,
};

/** Returns null if the request is malformed: a stream error of type PROTOCOL_ERROR. */
export function parseCallHeaders(fields: readonly HeaderField[]): CallHeaders | null {
  const pseudo = new Map<string, string>();
  let contentType = "";
  let timeout: string | null = null;
  let contentLength: number | null = null;
  let isRegular = false;
  for (const [name, value] of fields) {
    if (name.startsWith(":")) {
      if (isRegular || !PSEUDO_FIELDS.has(name) || pseudo.has(name)) return null;
      pseudo.set(name, value);
    } else if (!isAllowed(name, value)) {
      return null;
    } else {
      isRegular = true;
      if (name === "content-type") contentType = value;
      else if (name === "grpc-timeout") timeout = value;
      else if (name === "content-length") contentLength = Number(value);
    }
  }
  const path = pseudo.get(":path") ?? "";
  if (!pseudo.has(":method") || !pseudo.has(":scheme") || path === "") return null;
  if (contentLength !== null && !Number.isSafeInteger(contentLength)) return null;
  const isGrpc = pseudo.get(":method") === "POST" && contentType.startsWith("application/grpc");
  return { path, isGrpc, timeoutMs: timeout === null ? null : parseTimeout(timeout), contentLength };
}

/** Returns whether trailers are valid: they must not contain pseudo-fields. */
export function areTrailersValid(fields: readonly HeaderField[]): boolean {
  return fields.every(([name, value]) => isAllowed(name, value));
}

function isAllowed(name: string, value: string): boolean {
  if (name === "" || INVALID_NAME.test(name) || INVALID_VALUE.test(value)) return false;
  return name === "te" ? value === "trailers" : !CONNECTION_FIELDS.has(name);
}

/** Parses `grpc-timeout`. @see https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md */
function parseTimeout(text: string): number | null {
  const [, amount, unit = ""] = TIMEOUT.exec(text) ?? [];
  const msPerUnit = MS_PER_UNIT[unit];
  return amount === undefined || msPerUnit === undefined ? null : Number(amount) * msPerUnit;
}

/** Blocks of one client rarely differ: a few are cached, so that most are compared instead of decoded. */
const MAX_CACHED_BLOCKS = 8;
const MAX_CACHED_BYTES = 2_048;

/**
 * Cache of decoded stateless blocks. Without a dynamic table every block of Envoy is stateless, and all calls
 * of one filter have the same: comparing about 200 bytes costs a tenth of decoding them.
 */
export class CallHeadersCache {
  #cached: { readonly block: Buffer; readonly headers: CallHeaders }[] = [];

  find(bytes: Buffer, start: number, end: number): CallHeaders | null {
    for (const { block, headers } of this.#cached) {
      if (block.length === end - start && block.compare(bytes, start, end) === 0) return headers;
    }
    return null;
  }

  /** Adds a block, and evicts the oldest if there are too many. */
  add(bytes: Buffer, start: number, end: number, block: HeaderBlock, headers: CallHeaders): void {
    if (!block.isStateless || end - start > MAX_CACHED_BYTES) return;
    this.#cached.unshift({ block: Buffer.from(bytes.subarray(start, end)), headers });
    this.#cached.length = Math.min(this.#cached.length, MAX_CACHED_BLOCKS);
  }
}
