/**
 * Which headers pass. Towards an upstream go those of a closed list, what its protocol needs, and what its operator has
 * listed: providers can be steered by headers of any name (to another model, deployment, account or price). Towards the
 * client, of an upstream's headers, only three come through: everything else that a client may rely on is the gateway's
 * own.
 */
import {
  CLIENT_CREDENTIAL_HEADERS,
  INCLUDE_COST_HEADER,
  TAGS_HEADER,
} from "../../../shared/contract/header-names.ts";
import type { Header } from "../reply.ts";
import { setBounded } from "../../../shared/collections/set-bounded.ts";
import type { Route } from "./upstream-call.ts";

/** What every upstream gets: what the body is, who speaks, and the trace that it is part of. docs/api.md has it for people. */
const FOR_UPSTREAMS: ReadonlySet<string> = new Set([
  "content-type",
  "content-length",
  "transfer-encoding",
  "accept",
  "user-agent",
  "x-request-id",
  // W3C Trace Context, and B3 in both forms.
  "traceparent",
  "tracestate",
  "b3",
  "x-b3-traceid",
  "x-b3-spanid",
  "x-b3-parentspanid",
  "x-b3-sampled",
  "x-b3-flags",
]);

/** What Envoy needs until a server is chosen: the upstream's cluster takes it off. */
const FOR_ENVOY = [":", "x-envoy-", "x-forwarded-", "x-igw-"];

/** Taken off by the upstream's cluster in Envoy, too, whatever the sidecar did. */
export const HEADERS_NOT_FOR_UPSTREAMS = [
  ...CLIENT_CREDENTIAL_HEADERS,
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
  INCLUDE_COST_HEADER,
];

/** The same by prefix. */
export const PREFIXES_NOT_FOR_UPSTREAMS = [
  "x-stainless-",
  "x-amz-",
  "anthropic-",
  "openai-",
  "x-openai-",
  "x-codex-",
];

export const MESSAGES_PREFIX = "anthropic-";
/**
 * Where an upstream speaks messages, its cluster lets `anthropic-version` and `anthropic-beta` through: of that prefix it
 * takes off what is known, and the sidecar all others, request by request.
 */
export const MESSAGES_HEADERS_NOT_FOR_UPSTREAMS = [
  "anthropic-dangerous-direct-browser-access",
  "anthropic-workspace-id",
];

/** What became of names that came before; clients may make up names, and long ones. */
const MAX_KNOWN_NAMES = 250;
const MAX_KNOWN_LENGTH = 64;
const knownNames = new Map<string, boolean>();

const FOR_CLIENTS: ReadonlySet<string> = new Set(["content-type", "cache-control", "date"]);

/**
 * Names, of those of a request, that are taken off before it goes upstream, each once. Pseudo-headers stay.
 * @param forwarded Names that stay: of the protocol that the upstream speaks, and those that its operator has listed.
 */
export function namesToRemoveUpstream(names: Iterable<string>, forwarded: readonly string[] = []): string[] {
  const remove: string[] = [];
  for (const name of names) {
    if (!isForUpstreams(name) && !forwarded.includes(name) && !remove.includes(name)) remove.push(name);
  }
  return remove;
}

/** Of a request's headers what decides anything here. */
export interface RequestHeaders {
  readonly names: readonly string[];
  /** The value of `BETA_HEADER`. */
  readonly betas?: string | undefined;
}

/** What is changed in a request's headers before it goes upstream. */
export function changesForUpstream(
  { names, betas }: RequestHeaders,
  { forwardedHeaders, contextWindow }: Pick<Route, "forwardedHeaders" | "contextWindow">,
): { setHeaders: Header[]; removeHeaders: string[] } {
  const removeHeaders = namesToRemoveUpstream(names, forwardedHeaders);
  if (betas === undefined || !forwardedHeaders.includes(BETA_HEADER)) {
    return { setHeaders: [], removeHeaders };
  }
  const kept = limitBetas(betas, contextWindow);
  if (kept === "") removeHeaders.push(BETA_HEADER);
  return { setHeaders: kept === "" || kept === betas ? [] : [[BETA_HEADER, kept]], removeHeaders };
}

function isForUpstreams(name: string): boolean {
  const known = knownNames.get(name);
  if (known !== undefined) return known;
  const isFor = FOR_UPSTREAMS.has(name) || FOR_ENVOY.some((prefix) => name.startsWith(prefix));
  if (name.length <= MAX_KNOWN_LENGTH) setBounded(knownNames, name, isFor, MAX_KNOWN_NAMES);
  return isFor;
}

/** Names of features that a client wants of Anthropic's API, with a comma between them. */
export const BETA_HEADER = "anthropic-beta";
/** "context-1m-2025-08-07": a context window of a million tokens. */
const WINDOW_BETA = /^context-(\d{1,6})([km])(?:-|$)/i;

/**
 * Those that go upstream: none that asks for a larger context window than the model's, by which caps reckon.
 * @returns "" where none is left.
 */
export function limitBetas(betas: string, contextWindow: number): string {
  const kept = betas.split(",").filter((beta) => windowOf(beta.trim()) <= contextWindow);
  return kept.join(",");
}

function windowOf(beta: string): number {
  const [, count, unit = ""] = WINDOW_BETA.exec(beta) ?? [];
  return count === undefined ? 0 : Number(count) * (unit.toLowerCase() === "m" ? 1_000_000 : 1_000);
}

/** Names, of those of an upstream's response, that are taken off before it goes to the client, each once. Pseudo-headers stay. */
export function namesToRemoveDownstream(names: Iterable<string>): string[] {
  const remove: string[] = [];
  for (const name of names) {
    if (!name.startsWith(":") && !FOR_CLIENTS.has(name) && !remove.includes(name)) remove.push(name);
  }
  return remove;
}
