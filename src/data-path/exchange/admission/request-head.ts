/** Reads the request line and the headers. An admission decides by these, before the body arrives. */
import { GatewayError } from "../../../shared/contract/errors.ts";
import { TAGS_HEADER } from "../../../shared/contract/header-names.ts";
import { scrub } from "../../../shared/text/scrub.ts";
import { mergeTags, parseTagList } from "../../../shared/usage/tags.ts";
import type { TokenVerdict } from "../../auth/read-token.ts";
import type { ProtocolName } from "../../translation/client-protocol.ts";
import { type Endpoint, type EndpointMatch, findEndpoint } from "./endpoints.ts";
import { describeUnreadable } from "./unknown-endpoint.ts";

/** A request as ext_authz sees it. */
export interface IncomingRequest {
  readonly method: string;
  /** Path with query. */
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** `context_extensions` of the route in Envoy's configuration, see `parseRouteRestrictions`. */
  readonly extensions?: Readonly<Record<string, string>>;
  /** Envoy's verdict on the request's token, if it has one. */
  readonly token?: TokenVerdict | null;
  /** Whether ext_proc's call for the request comes to this same worker. */
  readonly staysOnWorker?: boolean;
}

/** A request and everything parsed from it so far. */
export interface ParsedRequest {
  readonly request: IncomingRequest;
  readonly requestId: string;
  readonly match: EndpointMatch;
  readonly protocol: ProtocolName;
  readonly route: string;
  /** True for calls that cost money: they go upstream unless they are rejected. */
  readonly isMetered: boolean;
  readonly startMs: number;
}

export function parseRequest(request: IncomingRequest, requestId: string): ParsedRequest {
  const match = findEndpoint(request.path);
  return {
    request,
    requestId,
    match,
    protocol: protocolOf(match.endpoint, request),
    route: formatRoute(request),
    isMetered: isMeteredCall(match.endpoint, request),
    startMs: performance.now(),
  };
}

function isMeteredCall(endpoint: Endpoint, request: IncomingRequest): boolean {
  return (
    endpoint.isMetered && endpoint.methods.includes(request.method) && describeUnreadable(request) === null
  );
}

/** `content-length`; null if absent. */
export function declaredBytes({ headers }: IncomingRequest): number | null {
  const length = Number(headers["content-length"]);
  return Number.isSafeInteger(length) ? length : null;
}

/** `content-length` of a request that goes upstream; null if absent, or if the request stays here. */
export function bodyBytesOf({ request, isMetered }: ParsedRequest): number | null {
  return isMetered ? declaredBytes(request) : null;
}

/** Typical of text. A longer body may contain images, so it is only counted once it has arrived. */
const BYTES_PER_TOKEN = 4;
const MAX_BYTES_OF_TEXT = 65_536;

/** Estimates the prompt for token limits, which apply before the body has arrived; 0 if unknown. */
export function promptTokensByHead(parsed: ParsedRequest): number {
  const bytes = Math.max(0, bodyBytesOf(parsed) ?? 0);
  return Math.floor(Math.min(bytes, MAX_BYTES_OF_TEXT) / BYTES_PER_TOKEN);
}

/**
 * Merges the tags of the request's header with the key's default tags. Repeated headers are one list (RFC 9110,
 * section 5.3), as Envoy joins them.
 * @throws GatewayError 400 if the header is invalid.
 */
export function readTagsHeader({ headers }: IncomingRequest, defaultTags: string | null): string {
  const header = headers[TAGS_HEADER];
  if (header === undefined) return defaultTags ?? "";
  const parsed = parseTagList(header);
  if ("tags" in parsed) return mergeTags(parsed.tags, defaultTags ?? "");
  throw new GatewayError("invalid_parameter", { message: `\`X-Tags\`: ${parsed.problem}`, param: "X-Tags" });
}

/**
 * The model list exists in both protocols' shapes; a client that sends `anthropic-version` gets Anthropic's envelope.
 */
function protocolOf(endpoint: Endpoint, request: IncomingRequest): ProtocolName {
  const isModels = endpoint.name === "models" || endpoint.name === "model";
  return isModels && request.headers["anthropic-version"] !== undefined ? "messages" : endpoint.protocol;
}

/**
 * "POST /v1/messages": without the query, scrubbed of credentials, and cut to the length of a log line, because
 * operators read it.
 */
function formatRoute({ method, path }: IncomingRequest): string {
  const query = path.indexOf("?");
  return scrub(`${method} ${query === -1 ? path : path.slice(0, query)}`.slice(0, 200));
}
