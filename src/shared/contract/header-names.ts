/** Names of HTTP headers, in lower case, that more than one stage must know. */

/** Headers by which clients send their own keys: none of them ever reaches an upstream. */
export const CLIENT_CREDENTIAL_HEADERS: readonly string[] = [
  "authorization",
  "proxy-authorization",
  "x-api-key",
  // Azure's and Google's clients.
  "api-key",
  "x-goog-api-key",
  "cookie",
];

/** What a client tells the gateway alone: whose cost a request is, and that it wishes to see it. */
export const TAGS_HEADER = "x-tags";
export const INCLUDE_COST_HEADER = "x-include-cost";

/** A header by its name in lower case, and as people write it. */
interface NamedHeader {
  readonly name: string;
  readonly title: string;
}

/** What names a request's session, the first that is there: what agents are told to send, Claude Code's and Codex'. */
export const SESSION_HEADERS: readonly NamedHeader[] = [
  { name: "x-session-id", title: "X-Session-Id" },
  { name: "x-claude-code-session-id", title: "X-Claude-Code-Session-Id" },
  { name: "session-id", title: "Session-Id" },
];
/** What the session may spend at most, for the gateway alone. */
export const SESSION_BUDGET_HEADER: NamedHeader = { name: "x-session-budget", title: "X-Session-Budget" };

/** The connection's own, and those by which Envoy and the sidecar say where a request goes and what it carries. */
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

/** Whether a header belongs to the connection, to the request or to the gateway. */
export function isReservedHeader(name: string): boolean {
  return CONNECTION_HEADERS.has(name) || INTERNAL_PREFIXES.some((prefix) => name.startsWith(prefix));
}

/** Says to how many tokens the limit of output was lowered, on answers of requests that strict caps had no room for. */
export const BUDGET_MAX_TOKENS_HEADER = "x-budget-max-tokens";

/** Says on every response how many whole requests are left in the key's bucket. */
export const REMAINING_HEADER = "x-service-ratelimit-remaining";
