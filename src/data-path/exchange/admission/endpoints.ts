/**
 * Which endpoint a request names. Read once, at admission; the later stages act on the endpoint that the admission
 * carries and never on their own reading of the path.
 */
import { type EndpointName, ENDPOINTS } from "../../../shared/contract/endpoints.ts";
import type { ProtocolName } from "../../translation/client-protocol.ts";

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

/** Answered by Envoy itself; here only for the 405 of other methods. */
const PROBE: Endpoint = { name: "unknown", protocol: "chat", isMetered: false, methods: ["GET", "HEAD"] };
const UNKNOWN: Endpoint = { name: "unknown", protocol: "chat", isMetered: false, methods: [] };
const UNKNOWN_MESSAGES: Endpoint = { ...UNKNOWN, protocol: "messages" };
const UNKNOWN_RESPONSES: Endpoint = { ...UNKNOWN, protocol: "responses" };

const BY_PATH: ReadonlyMap<string, Endpoint> = new Map([
  ...ENDPOINTS.filter(({ path }) => !path.endsWith("}")).map(
    (row) => [row.path, createEndpoint(row)] as const,
  ),
  ["/healthz", PROBE],
  ["/", PROBE],
  ["/api/hello", PROBE],
]);

/** "/v1/models/": what comes behind it is an id. */
const BY_PREFIX: readonly (readonly [prefix: string, endpoint: Endpoint])[] = ENDPOINTS.filter(({ path }) =>
  path.endsWith("}"),
).map((row) => [row.path.slice(0, row.path.indexOf("{")), createEndpoint(row)]);

function createEndpoint({ name, protocol, method, kind }: (typeof ENDPOINTS)[number]): Endpoint {
  const methods = method === "GET" ? ["GET", "HEAD"] : [method];
  return { name, protocol, isMetered: kind === "generates", methods };
}

/** The endpoint that a path (with or without a query) names; `unknown` for every other path. */
export function findEndpoint(path: string): EndpointMatch {
  const query = path.indexOf("?");
  const bare = query === -1 ? path : path.slice(0, query);
  const exact = BY_PATH.get(bare);
  if (exact !== undefined) return { endpoint: exact, resource: null };
  for (const [prefix, endpoint] of BY_PREFIX) {
    if (bare.startsWith(prefix)) return withResource(endpoint, bare.slice(prefix.length));
  }
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

/** Paths of the endpoints at which models answer, of the protocols that are wanted. */
export function listAnsweringPaths(isWanted: (protocol: ProtocolName) => boolean): string[] {
  return ENDPOINTS.filter(
    (row) => row.kind === "generates" && !("isCompanion" in row) && isWanted(row.protocol),
  ).map(({ path }) => path);
}

/** Names of the endpoints that the gateway answers by itself, by the head of a request alone. */
export const LOCAL_ENDPOINTS: ReadonlySet<EndpointName> = namesOf("tells");

/** Names of the endpoints whose requests go upstream. */
export const METERED_ENDPOINTS: ReadonlySet<EndpointName> = namesOf("generates");

function namesOf(wanted: (typeof ENDPOINTS)[number]["kind"]): ReadonlySet<EndpointName> {
  return new Set(ENDPOINTS.filter(({ kind }) => kind === wanted).map(({ name }) => name));
}
