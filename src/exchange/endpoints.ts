/**
 * Which endpoint a request names. Read once, at admission; the later stages act on the endpoint that the admission
 * carries and never on their own reading of the path.
 */
import type { EndpointName } from "../limits/admission.ts";
import type { ProtocolName } from "../translation/client-protocol.ts";

export interface Endpoint {
  readonly name: EndpointName;
  /** Which protocol's envelope and header names its answers have. */
  readonly protocol: ProtocolName;
  /** Calls that cost money: caps refuse these and nothing else. */
  readonly isMetered: boolean;
  readonly methods: readonly string[];
}

/** An endpoint as one request named it. */
export interface EndpointMatch {
  readonly endpoint: Endpoint;
  /** The model or request id in the path, decoded; null where the path has none. */
  readonly resource: string | null;
}

const CHAT: Endpoint = { name: "chat_completions", protocol: "chat", isMetered: true, methods: ["POST"] };
const MESSAGES: Endpoint = { name: "messages", protocol: "messages", isMetered: true, methods: ["POST"] };
const RESPONSES: Endpoint = { name: "responses", protocol: "responses", isMetered: true, methods: ["POST"] };
const RESPONSES_COMPACT: Endpoint = { ...RESPONSES, name: "responses_compact" };
const EMBEDDINGS: Endpoint = {
  name: "embeddings",
  protocol: "embeddings",
  isMetered: true,
  methods: ["POST"],
};
const COMPLETIONS: Endpoint = {
  name: "completions",
  protocol: "completions",
  isMetered: true,
  methods: ["POST"],
};
const COUNT_TOKENS: Endpoint = {
  name: "count_tokens",
  protocol: "messages",
  isMetered: false,
  methods: ["POST"],
};
/** The same in the words of another protocol. */
const INPUT_TOKENS: Endpoint = { ...COUNT_TOKENS, protocol: "responses" };
const KEY: Endpoint = { name: "key", protocol: "chat", isMetered: false, methods: ["GET", "HEAD"] };
const REQUEST: Endpoint = { name: "request", protocol: "chat", isMetered: false, methods: ["GET", "HEAD"] };
const MODELS: Endpoint = { name: "models", protocol: "chat", isMetered: false, methods: ["GET", "HEAD"] };
const MODEL: Endpoint = { name: "model", protocol: "chat", isMetered: false, methods: ["GET", "HEAD"] };
const READINESS: Endpoint = {
  name: "readiness",
  protocol: "chat",
  isMetered: false,
  methods: ["GET", "HEAD"],
};
/** Answered by Envoy itself; here only for the 405 of other methods. */
const PROBE: Endpoint = { name: "unknown", protocol: "chat", isMetered: false, methods: ["GET", "HEAD"] };
const UNKNOWN: Endpoint = { name: "unknown", protocol: "chat", isMetered: false, methods: [] };
const UNKNOWN_MESSAGES: Endpoint = { ...UNKNOWN, protocol: "messages" };
const UNKNOWN_RESPONSES: Endpoint = { ...UNKNOWN, protocol: "responses" };

const BY_PATH: ReadonlyMap<string, Endpoint> = new Map([
  ["/v1/chat/completions", CHAT],
  ["/v1/messages", MESSAGES],
  ["/v1/responses", RESPONSES],
  ["/v1/responses/compact", RESPONSES_COMPACT],
  ["/v1/embeddings", EMBEDDINGS],
  ["/v1/completions", COMPLETIONS],
  ["/v1/messages/count_tokens", COUNT_TOKENS],
  ["/v1/responses/input_tokens", INPUT_TOKENS],
  ["/v1/key", KEY],
  ["/v1/models", MODELS],
  ["/readyz", READINESS],
  ["/healthz", PROBE],
  ["/", PROBE],
  ["/api/hello", PROBE],
]);

const MODEL_PREFIX = "/v1/models/";
const REQUEST_PREFIX = "/v1/requests/";

/** The endpoint that a path (with or without a query) names; `unknown` for every other path. */
export function findEndpoint(path: string): EndpointMatch {
  const query = path.indexOf("?");
  const bare = query === -1 ? path : path.slice(0, query);
  const exact = BY_PATH.get(bare);
  if (exact !== undefined) return { endpoint: exact, resource: null };
  if (bare.startsWith(MODEL_PREFIX)) return withResource(MODEL, bare.slice(MODEL_PREFIX.length));
  if (bare.startsWith(REQUEST_PREFIX)) return withResource(REQUEST, bare.slice(REQUEST_PREFIX.length));
  return { endpoint: findUnknown(bare), resource: null };
}

/** What lies under an endpoint is refused in its protocol's envelope. */
function findUnknown(path: string): Endpoint {
  if (path.startsWith("/v1/messages")) return UNKNOWN_MESSAGES;
  return path.startsWith("/v1/responses") ? UNKNOWN_RESPONSES : UNKNOWN;
}

function withResource(endpoint: Endpoint, encoded: string): EndpointMatch {
  const resource = decode(encoded);
  if (resource === null || resource === "") return { endpoint: UNKNOWN, resource: null };
  return { endpoint, resource };
}

/** Model ids have a slash, which clients send raw or as `%2F`. Null where the escapes are no UTF-8. */
function decode(encoded: string): string | null {
  try {
    return decodeURIComponent(encoded);
  } catch (error) {
    if (error instanceof URIError) return null;
    throw error;
  }
}

/** One of each protocol: where its models answer. */
const ANSWERING: ReadonlySet<Endpoint> = new Set([CHAT, MESSAGES, RESPONSES, EMBEDDINGS, COMPLETIONS]);

/** Paths of the endpoints at which models answer, of the protocols that are wanted. */
export function listAnsweringPaths(isWanted: (protocol: ProtocolName) => boolean): string[] {
  return [...BY_PATH]
    .filter(([, endpoint]) => ANSWERING.has(endpoint) && isWanted(endpoint.protocol))
    .map(([path]) => path);
}

/** Names of the endpoints that the gateway answers by itself, by the head of a request alone. */
export const LOCAL_ENDPOINTS: ReadonlySet<EndpointName> = new Set(
  [MODELS, MODEL, KEY, REQUEST].map(({ name }) => name),
);

/** Names of the endpoints whose requests go upstream. */
export const METERED_ENDPOINTS: ReadonlySet<EndpointName> = new Set(
  [...BY_PATH.values()].filter(({ isMetered }) => isMetered).map(({ name }) => name),
);
