/**
 * Table of the client endpoints, from which the parsing of paths, Envoy's description of the service and the
 * rules of limits are derived.
 */

interface EndpointRow {
  /** `{…}` at the end stands for the rest of the path: the id of a model or a request. */
  readonly path: string;
  readonly name: string;
  /** Protocol whose envelope and header names the responses use. */
  readonly protocol: "chat" | "messages" | "responses" | "embeddings" | "completions";
  /** Method; every endpoint with `GET` also accepts `HEAD`. */
  readonly method: "GET" | "POST";
  /**
   * `generates`: a model answers, and it costs money. `counts`: counts tokens of a prompt for free. `tells`:
   * the gateway answers, from the request headers only. `probes`: reports whether the gateway is up.
   */
  readonly kind: "generates" | "counts" | "tells" | "probes";
  /** True if clients can limit the output. */
  readonly hasOutputLimit?: true;
  /** True if it continues another endpoint's conversations, so it is not a protocol's first endpoint. */
  readonly isCompanion?: true;
}

export const ENDPOINTS = [
  {
    path: "/v1/chat/completions",
    name: "chat_completions",
    protocol: "chat",
    method: "POST",
    kind: "generates",
    hasOutputLimit: true,
  },
  {
    path: "/v1/messages",
    name: "messages",
    protocol: "messages",
    method: "POST",
    kind: "generates",
    hasOutputLimit: true,
  },
  {
    path: "/v1/responses",
    name: "responses",
    protocol: "responses",
    method: "POST",
    kind: "generates",
    hasOutputLimit: true,
  },
  {
    path: "/v1/responses/compact",
    name: "responses_compact",
    protocol: "responses",
    method: "POST",
    kind: "generates",
    isCompanion: true,
  },
  { path: "/v1/embeddings", name: "embeddings", protocol: "embeddings", method: "POST", kind: "generates" },
  {
    path: "/v1/completions",
    name: "completions",
    protocol: "completions",
    method: "POST",
    kind: "generates",
    hasOutputLimit: true,
  },
  {
    path: "/v1/messages/count_tokens",
    name: "count_tokens",
    protocol: "messages",
    method: "POST",
    kind: "counts",
  },
  {
    path: "/v1/responses/input_tokens",
    name: "count_tokens",
    protocol: "responses",
    method: "POST",
    kind: "counts",
  },
  { path: "/v1/models", name: "models", protocol: "chat", method: "GET", kind: "tells" },
  { path: "/v1/models/{model}", name: "model", protocol: "chat", method: "GET", kind: "tells" },
  { path: "/v1/key", name: "key", protocol: "chat", method: "GET", kind: "tells" },
  { path: "/v1/usage", name: "usage", protocol: "chat", method: "GET", kind: "tells" },
  { path: "/v1/requests", name: "requests", protocol: "chat", method: "GET", kind: "tells" },
  { path: "/v1/requests/{request_id}", name: "request", protocol: "chat", method: "GET", kind: "tells" },
  { path: "/readyz", name: "readiness", protocol: "chat", method: "GET", kind: "probes" },
] as const satisfies readonly EndpointRow[];

/** `unknown` stands for every other path. */
export type EndpointName = (typeof ENDPOINTS)[number]["name"] | "unknown";

const LIMITED: ReadonlySet<EndpointName> = new Set(
  ENDPOINTS.filter((row: EndpointRow) => row.hasOutputLimit === true).map(({ name }) => name),
);

/** Returns whether clients can limit the output. */
export function hasOutputLimit(endpoint: EndpointName): boolean {
  return LIMITED.has(endpoint);
}

/** Lists "POST /v1/chat/completions" for each endpoint that clients with an API key may call. */
export function listServedEndpoints(): string[] {
  return ENDPOINTS.filter(({ kind }) => kind !== "probes").map(({ method, path }) => `${method} ${path}`);
}
