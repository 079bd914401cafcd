/**
 * Which headers pass. Towards an upstream everything goes but what names the client, its credentials or this gateway;
 * towards the client, of an upstream's headers, only three come through: everything else that a client may rely on is
 * the gateway's own.
 */
import { setBounded } from "../set-bounded.ts";

/** Whose cost a request is: for this gateway alone. */
export const TAGS_HEADER = "x-tags";

/** Taken off by the sidecar, and once more by the upstream's cluster in Envoy, whatever the sidecar did. */
export const HEADERS_NOT_FOR_UPSTREAMS = [
  "authorization",
  "proxy-authorization",
  "x-api-key",
  // By which other providers' clients send their key: Azure, Google.
  "api-key",
  "x-goog-api-key",
  "cookie",
  "forwarded",
  "expect",
  "te",
  "upgrade",
  TAGS_HEADER,
  // What Codex and the AI SDK tell about the user's installation and session.
  "session-id",
  "thread-id",
  "originator",
  "x-client-request-id",
  // A wish that is for the gateway.
  "x-include-cost",
  // What the upstream compressed could not be read here.
  "accept-encoding",
];

/**
 * The same by prefix. `x-envoy-*`, `x-forwarded-*` and the gateway's own `x-igw-*` are taken off by the upstream's
 * cluster alone: Envoy needs them until then, and finds no route without `x-forwarded-proto`.
 */
export const PREFIXES_NOT_FOR_UPSTREAMS = [
  "x-stainless-",
  "x-amz-",
  "anthropic-",
  "openai-",
  "x-openai-",
  "x-codex-",
];

/**
 * Where an upstream speaks messages, its cluster lets `anthropic-version` and `anthropic-beta` through: of that prefix it
 * takes off what is known, and the sidecar all others, request by request.
 */
export const MESSAGES_PREFIX = "anthropic-";
export const MESSAGES_HEADERS_NOT_FOR_UPSTREAMS = [
  "anthropic-dangerous-direct-browser-access",
  "anthropic-workspace-id",
];

const NOT_FOR_UPSTREAMS: ReadonlySet<string> = new Set(HEADERS_NOT_FOR_UPSTREAMS);

/** What became of names that came before; clients may make up names, and long ones. */
const MAX_KNOWN_NAMES = 250;
const MAX_KNOWN_LENGTH = 64;
const knownNames = new Map<string, boolean>();

const FOR_CLIENTS: ReadonlySet<string> = new Set(["content-type", "cache-control", "date"]);

/**
 * Names, of those of a request, that are taken off before it goes upstream, each once. Pseudo-headers stay.
 * @param forwarded Names that stay, since the upstream speaks the protocol that they belong to.
 */
export function namesToRemoveUpstream(names: Iterable<string>, forwarded: readonly string[] = []): string[] {
  const remove: string[] = [];
  for (const name of names) {
    if (!isForUpstreams(name) && !forwarded.includes(name) && !remove.includes(name)) remove.push(name);
  }
  return remove;
}

function isForUpstreams(name: string): boolean {
  const known = knownNames.get(name);
  if (known !== undefined) return known;
  const prefixed = PREFIXES_NOT_FOR_UPSTREAMS.some((prefix) => name.startsWith(prefix));
  const isFor = !prefixed && !NOT_FOR_UPSTREAMS.has(name);
  if (name.length <= MAX_KNOWN_LENGTH) setBounded(knownNames, name, isFor, MAX_KNOWN_NAMES);
  return isFor;
}

/** Names, of those of an upstream's response, that are taken off before it goes to the client, each once. Pseudo-headers stay. */
export function namesToRemoveDownstream(names: Iterable<string>): string[] {
  const remove: string[] = [];
  for (const name of names) {
    if (!name.startsWith(":") && !FOR_CLIENTS.has(name) && !remove.includes(name)) remove.push(name);
  }
  return remove;
}
