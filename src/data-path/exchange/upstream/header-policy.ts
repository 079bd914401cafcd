/**
 * Decides which headers pass. An upstream gets a closed list, its protocol's headers and those that its operator
 * lists, because headers of any name can steer a provider (to another model, deployment, account or price). A client
 * gets three of the upstream's headers; the gateway itself sets all others.
 */
import {
  CLIENT_CREDENTIAL_HEADERS,
  INCLUDE_COST_HEADER,
  TAGS_HEADER,
} from "../../../shared/contract/header-names.ts";
import type { Header } from "../reply.ts";
import { setBounded } from "../../../shared/collections/set-bounded.ts";
import type { RequestHeaders, Route } from "./upstream-call.ts";

/** Headers for every upstream: the body's type, the client's name and the trace. docs/api.md lists them for users. */
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

/** Envoy needs these until it has chosen a server; the upstream's cluster removes them. */
const FOR_ENVOY = [":", "x-envoy-", "x-forwarded-", "x-igw-"];

/** The upstream's cluster in Envoy removes these as well, whatever the sidecar did. */
export const HEADERS_NOT_FOR_UPSTREAMS = [
  ...CLIENT_CREDENTIAL_HEADERS,
  "forwarded",
  "expect",
  "te",
  "upgrade",
  TAGS_HEADER,
  // Identify the user's installation and session, sent by Codex and the AI SDK.
  "session-id",
  "thread-id",
  "originator",
  "x-client-request-id",
  INCLUDE_COST_HEADER,
];

/** Prefixes of further headers that the upstream's cluster in Envoy removes. */
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
 * For upstreams that speak messages: the cluster lets `anthropic-version` and `anthropic-beta` pass and removes the
 * other known headers of that prefix. The sidecar removes unknown ones, request by request.
 */
export const MESSAGES_HEADERS_NOT_FOR_UPSTREAMS = [
  "anthropic-dangerous-direct-browser-access",
  "anthropic-workspace-id",
];

/** Cache of decisions by header name. Clients may invent names, and long ones. */
const MAX_KNOWN_NAMES = 250;
const MAX_KNOWN_LENGTH = 64;
const knownNames = new Map<string, boolean>();

const FOR_CLIENTS: ReadonlySet<string> = new Set(["content-type", "cache-control", "date"]);

/**
 * Lists headers of a request to remove before it goes upstream, each once. Pseudo-headers stay.
 * @param forwarded Headers to keep: those of the upstream's protocol, and those that its operator lists.
 */
export function namesToRemoveUpstream(names: Iterable<string>, forwarded: readonly string[] = []): string[] {
  const remove: string[] = [];
  for (const name of names) {
    if (!isForUpstreams(name) && !forwarded.includes(name) && !remove.includes(name)) remove.push(name);
  }
  return remove;
}

type ForwardedParts = Pick<Route, "forwardedHeaders" | "contextWindow" | "serverHeaders">;

/** Changes to a request's headers before it goes upstream. */
export function changesForUpstream(
  { names, betas }: RequestHeaders,
  { forwardedHeaders, contextWindow, serverHeaders }: ForwardedParts,
): { setHeaders: readonly Header[]; removeHeaders: string[] } {
  const removeHeaders = namesToRemoveUpstream(names, forwardedHeaders);
  if (betas === undefined || !forwardedHeaders.includes(BETA_HEADER)) {
    return { setHeaders: serverHeaders, removeHeaders };
  }
  const allowed = limitBetas(betas, contextWindow);
  if (allowed === "") removeHeaders.push(BETA_HEADER);
  const setHeaders: readonly Header[] =
    allowed === "" || allowed === betas ? serverHeaders : [...serverHeaders, [BETA_HEADER, allowed]];
  return { setHeaders, removeHeaders };
}

function isForUpstreams(name: string): boolean {
  const known = knownNames.get(name);
  if (known !== undefined) return known;
  const isFor = FOR_UPSTREAMS.has(name) || FOR_ENVOY.some((prefix) => name.startsWith(prefix));
  if (name.length <= MAX_KNOWN_LENGTH) setBounded(knownNames, name, isFor, MAX_KNOWN_NAMES);
  return isFor;
}

/** Lists features of Anthropic's API that a client requests, comma separated. */
export const BETA_HEADER = "anthropic-beta";
/** "context-1m-2025-08-07": a context window of a million tokens. */
const WINDOW_BETA = /^context-(\d{1,6})([km])(?:-|$)/i;

/**
 * Removes betas that request a larger context window than the model's, because caps are calculated with the model's.
 * @returns "" if no beta remains.
 */
export function limitBetas(betas: string, contextWindow: number): string {
  const allowed = betas.split(",").filter((beta) => windowOf(beta.trim()) <= contextWindow);
  return allowed.join(",");
}

function windowOf(beta: string): number {
  const [, count, unit = ""] = WINDOW_BETA.exec(beta) ?? [];
  return count === undefined ? 0 : Number(count) * (unit.toLowerCase() === "m" ? 1_000_000 : 1_000);
}

/** Lists headers of an upstream's response to remove before it goes to the client, each once. Pseudo-headers stay. */
export function namesToRemoveDownstream(names: Iterable<string>): string[] {
  const remove: string[] = [];
  for (const name of names) {
    if (!name.startsWith(":") && !FOR_CLIENTS.has(name) && !remove.includes(name)) remove.push(name);
  }
  return remove;
}
