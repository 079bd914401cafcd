/**
 * Request headers by which Envoy, or an endpoint picker, chooses a server of the upstream. Envoy sends the requests of a
 * session to the server that has their beginning in its prompt cache, by consistent hashing; nothing is stored.
 */
import { hash } from "node:crypto";
import {
  AFFINITY_HEADER,
  FAIRNESS_HEADER,
  OBJECTIVE_HEADER,
  PIN_HEADER,
  SESSION_HEADERS,
} from "../../../shared/contract/header-names.ts";
import { isJsonObject, type JsonObject } from "../../../shared/text/json-object.ts";
import type { Model } from "../../catalog/catalog.ts";
import type { Admission } from "../../limits/admission.ts";
import { SESSION_FIELD } from "../../limits/session.ts";
import type { Header } from "../reply.ts";
import type { RequestHeaders } from "./upstream-call.ts";

export interface ServerHeaders {
  readonly headers: readonly Header[];
  /**
   * Source of the session's name: a header, a field of the body, or `prompt` for its system prompt and first
   * user message. Null: the request is not pinned.
   */
  readonly pinnedBy: string | null;
}

/** A request whose session the admission has, also if the body named it. */
export interface PinnedRequest {
  readonly admission: Pick<Admission, "identity" | "caller">;
  readonly headers: RequestHeaders;
  /** The body as the client sent it. */
  readonly body: JsonObject;
}

const NONE: ServerHeaders = { headers: [], pinnedBy: null };
const CACHE_KEY_FIELD = "prompt_cache_key";
const [OWN_HEADER] = SESSION_HEADERS;
/** Length of the hash: 64 bits. */
const HASH_DIGITS = 16;
/** Characters of the system prompt, and of the first user message. */
const MAX_CHARACTERS = 2_048;
/** Messages before the first of a user, and parts of a message. */
const MAX_PARTS = 16;

/** Returns the headers for a server of this model's upstream. A model without several servers takes no work. */
export function chooseServerHeaders(
  { id, pinsSessions, endpointPicker }: Pick<Model, "id" | "pinsSessions" | "endpointPicker">,
  request: PinnedRequest,
): ServerHeaders {
  const { organizationId, keyId } = request.admission.caller;
  if (pinsSessions) {
    const session = findSession(request);
    if (session === null) return NONE;
    // Includes organization, key and model, so that no client can choose the server of another key's session.
    const named = `${organizationId}\0${keyId}\0${id}\0${session.name}`;
    const digest = hash("sha256", named, "hex").slice(0, HASH_DIGITS);
    return { headers: [[PIN_HEADER, digest]], pinnedBy: session.source };
  }
  if (endpointPicker === null) return NONE;
  const { objective } = endpointPicker;
  const fairness: Header = [FAIRNESS_HEADER, organizationId];
  return {
    headers: objective === null ? [fairness] : [fairness, [OBJECTIVE_HEADER, objective]],
    pinnedBy: null,
  };
}

interface NamedSession {
  readonly name: string;
  readonly source: string;
}

function findSession({ admission, headers, body }: PinnedRequest): NamedSession | null {
  const { names, affinity } = headers;
  const { session } = admission.identity;
  const ofBody = names.includes(OWN_HEADER.name) ? null : readName(body[SESSION_FIELD]);
  if (ofBody !== null) return { name: ofBody, source: SESSION_FIELD };
  if (session !== undefined) {
    const header = SESSION_HEADERS.find(({ name }) => names.includes(name)) ?? OWN_HEADER;
    return { name: session, source: header.name };
  }
  if (affinity !== undefined && affinity !== "") return { name: affinity, source: AFFINITY_HEADER };
  const cacheKey = readName(body[CACHE_KEY_FIELD]);
  if (cacheKey !== null) return { name: cacheKey, source: CACHE_KEY_FIELD };
  const start = readStart(body);
  return start === "" ? null : { name: start, source: "prompt" };
}

function readName(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value.slice(0, MAX_CHARACTERS) : null;
}

/** The beginnings of the system prompt and of the first user message, in any protocol; "": there are none. */
function readStart({ system, instructions, messages, input, prompt }: JsonObject): string {
  let start = readText(system ?? instructions);
  const list = messages ?? input ?? prompt;
  if (!Array.isArray(list)) return start + readText(list);
  for (const message of list.slice(0, MAX_PARTS)) {
    if (!isJsonObject(message)) break;
    const { role, content } = message;
    if (role === "user") return start + readText(content);
    if (role === "system" || role === "developer") start += readText(content);
  }
  return start;
}

/** The first characters of a content: a text, or a list of parts. */
function readText(content: unknown): string {
  if (typeof content === "string") return content.slice(0, MAX_CHARACTERS);
  if (!Array.isArray(content)) return "";
  let text = "";
  for (const part of content.slice(0, MAX_PARTS)) {
    if (isJsonObject(part) && typeof part["text"] === "string") text += part["text"].slice(0, MAX_CHARACTERS);
    if (text.length >= MAX_CHARACTERS) break;
  }
  return text.slice(0, MAX_CHARACTERS);
}
