/** Names of HTTP headers, in lower case, that several stages need. */

/** Headers in which clients send their own keys: they never reach an upstream. */
export const CLIENT_CREDENTIAL_HEADERS: readonly string[] = [
  "authorization",
  "proxy-authorization",
  "x-api-key",
  // Used by Azure's and Google's clients.
  "api-key",
  "x-goog-api-key",
  "cookie",
];

/** Header for the gateway only: tags of a request. */
export const TAGS_HEADER = "x-tags";
export const INCLUDE_COST_HEADER = "x-include-cost";

/** Header with its name in lower case, and for people. */
interface NamedHeader {
  readonly name: string;
  readonly title: string;
}

/** Headers that name a request's session, in order of precedence: the documented one, Claude Code's and Codex's. */
export const SESSION_HEADERS: readonly [NamedHeader, ...NamedHeader[]] = [
  { name: "x-session-id", title: "X-Session-Id" },
  { name: "x-claude-code-session-id", title: "X-Claude-Code-Session-Id" },
  { name: "session-id", title: "Session-Id" },
];
/** Sent by clients of other gateways and model providers; names a session for its server only, never for its cap. */
export const AFFINITY_HEADER = "x-session-affinity";

/** Hash of a request's session, by which Envoy chooses a server of the upstream. Never sent to the server. */
export const PIN_HEADER = "x-igw-session";

/**
 * Headers for endpoint pickers of the Gateway API Inference Extension: the flow for fair queueing, and the
 * objective.
 */
export const FAIRNESS_HEADER = "x-gateway-fairness-id";
export const OBJECTIVE_HEADER = "x-gateway-inference-objective";

/** Budget of the session, for the gateway only. */
export const SESSION_BUDGET_HEADER: NamedHeader = { name: "x-session-budget", title: "X-Session-Budget" };

/** Headers of the connection, and those by which Envoy and the sidecar control routing and content. */
const CONNECTION_HEADERS: ReadonlySet<string> = new Set([
  // RFC 9110, section 7.6.1.
  "connection",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "host",
  "content-length",
  "content-type",
  "content-encoding",
  "accept",
  "accept-encoding",
  "expect",
  "user-agent",
  "via",
  "forwarded",
  "x-request-id",
  "traceparent",
  "tracestate",
]);
const INTERNAL_PREFIXES: readonly string[] = ["x-igw-", "x-envoy-", "x-forwarded-"];

/** Returns whether a header belongs to the connection, to the framing of the request or to the gateway. */
export function isReservedHeader(name: string): boolean {
  return CONNECTION_HEADERS.has(name) || INTERNAL_PREFIXES.some((prefix) => name.startsWith(prefix));
}

/** Reports the lowered output limit, in responses to requests that did not fit under strict caps. */
export const BUDGET_MAX_TOKENS_HEADER = "x-budget-max-tokens";

/** Reports in every response how many whole requests are left in the key's bucket. */
export const REMAINING_HEADER = "x-service-ratelimit-remaining";
