/**
 * Finds the endpoint of a request. The path is read once, at admission; later stages use the admission's endpoint and
 * never read the path again.
 */
import { type EndpointName, ENDPOINTS } from "../../../shared/contract/endpoints.ts";
import type { ProtocolName } from "../../translation/client-protocol.ts";

export interface Endpoint {
  readonly name: EndpointName;
  /** Decides the error envelope and header names of responses. */
  readonly protocol: ProtocolName;
  /** The call costs money. Caps block only metered calls. */
  readonly isMetered: boolean;
  readonly methods: readonly string[];
}

/** An endpoint, and the resource in the request's path. */
export interface EndpointMatch {
  readonly endpoint: Endpoint;
  /** Model or request id in the path, decoded; null if the path has none. */
  readonly resource: string | null;
}

/** Envoy itself answers probes. This entry exists only so that other methods get 405. */
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

/** "/v1/models/": the rest of the path is an id. */
const BY_PREFIX: readonly (readonly [prefix: string, endpoint: Endpoint])[] = ENDPOINTS.filter(({ path }) =>
  path.endsWith("}"),
).map((row) => [row.path.slice(0, row.path.indexOf("{")), createEndpoint(row)]);

function createEndpoint({ name, protocol, method, kind }: (typeof ENDPOINTS)[number]): Endpoint {
  const methods = method === "GET" ? ["GET", "HEAD"] : [method];
  return { name, protocol, isMetered: kind === "generates", methods };
}

/** Returns the endpoint of a path (with or without a query); `unknown` for every other path. */
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

/** Paths below an endpoint are rejected in the endpoint's protocol. */
function findUnknown(path: string): Endpoint {
  if (path.startsWith("/v1/messages")) return UNKNOWN_MESSAGES;
  return path.startsWith("/v1/responses") ? UNKNOWN_RESPONSES : UNKNOWN;
}

function withResource(endpoint: Endpoint, encoded: string): EndpointMatch {
  const resource = decode(encoded);
  if (resource === null || resource === "") return { endpoint: UNKNOWN, resource: null };
  return { endpoint, resource };
}

/** Model ids contain slashes, which clients send raw or as `%2F`. Returns null if the escapes are invalid UTF-8. */
function decode(encoded: string): string | null {
  try {
    return decodeURIComponent(encoded);
  } catch (error) {
    if (error instanceof URIError) return null;
    throw error;
  }
}

/** Paths of the model endpoints of the selected protocols. */
export function listAnsweringPaths(isWanted: (protocol: ProtocolName) => boolean): string[] {
  return ENDPOINTS.filter(
    (row) => row.kind === "generates" && !("isCompanion" in row) && isWanted(row.protocol),
  ).map(({ path }) => path);
}

/** Endpoints that the gateway serves from the request's headers. */
export const LOCAL_ENDPOINTS: ReadonlySet<EndpointName> = namesOf("tells");

/** Endpoints whose requests go upstream. */
export const METERED_ENDPOINTS: ReadonlySet<EndpointName> = namesOf("generates");

function namesOf(wanted: (typeof ENDPOINTS)[number]["kind"]): ReadonlySet<EndpointName> {
  return new Set(ENDPOINTS.filter(({ kind }) => kind === wanted).map(({ name }) => name));
}
