/** The endpoints of clients: the one table that the reading of a path, Envoy's description of the service and the limits' rules are made of. */

interface EndpointRow {
  /** `{…}` at its end stands for the rest of the path, which is the id of a model or a request. */
  readonly path: string;
  readonly name: string;
  /** The protocol whose envelope and header names its answers have. */
  readonly protocol: "chat" | "messages" | "responses" | "embeddings" | "completions";
  /** All but `HEAD`, which every endpoint with `GET` takes. */
  readonly method: "GET" | "POST";
  /**
   * `generates`: a model answers, and it costs money. `counts`: it asks how many tokens a prompt has, which costs nothing.
   * `tells`: the gateway answers by itself, by the head of a request alone. `probes`: it tells whether the gateway is up.
   */
  readonly kind: "generates" | "counts" | "tells" | "probes";
  /** Clients say there how long an answer may be. */
  readonly hasOutputLimit?: true;
  /** It serves another endpoint's conversations, so it is none of those at which a protocol's models answer first. */
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
  { path: "/v1/requests/{request_id}", name: "request", protocol: "chat", method: "GET", kind: "tells" },
  { path: "/readyz", name: "readiness", protocol: "chat", method: "GET", kind: "probes" },
] as const satisfies readonly EndpointRow[];

/** `unknown` stands for every other path. */
export type EndpointName = (typeof ENDPOINTS)[number]["name"] | "unknown";

const LIMITED: ReadonlySet<EndpointName> = new Set(
  ENDPOINTS.filter((row: EndpointRow) => row.hasOutputLimit === true).map(({ name }) => name),
);

/** Whether clients say there how long an answer may be. */
export function hasOutputLimit(endpoint: EndpointName): boolean {
  return LIMITED.has(endpoint);
}

/** "POST /v1/chat/completions" of each that a client with an API key may ask. */
export function listServedEndpoints(): string[] {
  return ENDPOINTS.filter(({ kind }) => kind !== "probes").map(({ method, path }) => `${method} ${path}`);
}
