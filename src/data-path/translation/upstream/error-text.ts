import { shorten } from "../../../shared/text/shorten.ts";
import { asBuffer } from "../../../shared/text/as-buffer.ts";
import { isJsonObject, type JsonObject } from "../../../shared/text/json-object.ts";
import { isUtf8 } from "node:buffer";
import { JsonBoundError } from "../json/json-bounds.ts";
import { boundJsonText, tryParseJsonText } from "../json/parse-json-text.ts";

/** Error details from any upstream; null if absent. */
export interface UpstreamErrorText {
  readonly message: string | null;
  readonly code: string | null;
  /** Kind of error, in the server's own words. */
  readonly type: string | null;
  readonly param: string | null;
  /** HTTP status inside the error object, the only one in an answer of status 200. */
  readonly status: number | null;
}

/** Some servers repeat the whole input in their message. */
const MAX_MESSAGE_CHARACTERS = 2_000;
const MAX_PLAIN_TEXT_CHARACTERS = 500;
/** Matches the message of a body that was cut off inside it. */
const CUT_MESSAGE = /"(?:message|detail|error|msg)"\s*:\s*"((?:[^"\\]|\\.)+)/;

const NOTHING: UpstreamErrorText = { message: null, code: null, type: null, param: null, status: null };

/**
 * Parses an upstream's error body: OpenAI and current vLLM (`error.message`), older vLLM (`object: "error"`), Ollama
 * (`error: "text"`), FastAPI (`detail`), and the first 500 characters of plain text with a 4xx. Never throws.
 */
export function parseUpstreamError(status: number, body: Uint8Array): UpstreamErrorText {
  const text = readText(decodeWhole(body), Number.POSITIVE_INFINITY);
  if (text === null) return NOTHING;
  try {
    boundJsonText(text);
    return readUpstreamError(JSON.parse(text));
  } catch (error) {
    if (error instanceof JsonBoundError) return NOTHING;
    if (!(error instanceof SyntaxError)) throw error;
    const isReadable = status >= 400 && status < 500 && !/^\s*</.test(text);
    const plain = isReadable ? shorten(text.trim(), MAX_PLAIN_TEXT_CHARACTERS) : null;
    return { ...NOTHING, message: readCutMessage(text) ?? plain };
  }
}

/** Decodes the text without an incomplete last character; returns "" if it is not UTF-8. */
function decodeWhole(body: Uint8Array): string {
  for (let cut = 0; cut < 4 && cut < body.byteLength; cut++) {
    const whole = body.subarray(0, body.byteLength - cut);
    if (isUtf8(whole)) return asBuffer(whole).toString("utf8");
  }
  return "";
}

/**
 * Reads the message of truncated JSON: servers repeat a whole input in it, and only the beginning of the body is read.
 */
function readCutMessage(text: string): string | null {
  if (!/^\s*[[{]/.test(text)) return null;
  const escaped = CUT_MESSAGE.exec(text.slice(0, 2 * MAX_MESSAGE_CHARACTERS))?.[1];
  if (escaped === undefined) return null;
  try {
    return readText(JSON.parse(`"${escaped}"`), MAX_MESSAGE_CHARACTERS);
  } catch {
    return null;
  }
}

/**
 * Reads error details from a parsed value: an answer of status 200 or a chunk of a stream. Uses the first entry of a
 * list (Gemini, Cloudflare), nested objects in `message` and `detail` (vLLM's validation, LiteLLM), and another
 * server's error inside (OpenRouter's `metadata.raw`).
 */
export function readUpstreamError(value: unknown, depth = 0): UpstreamErrorText {
  if (Array.isArray(value)) return readUpstreamError(value[0], depth);
  if (typeof value === "string") return readWrapped(value, depth);
  if (!isJsonObject(value)) return NOTHING;
  const error = findError(value);
  if (typeof error === "string" && error !== "") {
    const siblings = readFields(value);
    const found = readWrapped(error, depth);
    return { ...siblings, ...pickDetails(found), message: joinMessages(found.message, siblings.message) };
  }
  const outer = readFields(isJsonObject(error) ? error : value);
  if (Array.isArray(error)) return outer.message === null ? readUpstreamError(error, depth) : outer;
  return { ...outer, ...pickDetails(readInner(isJsonObject(error) ? error : value, depth)) };
}

/** Maximum depth of errors inside errors. */
const MAX_DEPTH = 3;

/** Reads plain text, or JSON inside a text. */
function readWrapped(text: string, depth: number): UpstreamErrorText {
  const inner = /^\s*[[{]/.test(text) && depth < MAX_DEPTH ? tryParseJsonText(text) : null;
  const found = inner === null ? NOTHING : readUpstreamError(inner, depth + 1);
  const isReadable = text.trim() !== "" && !/^\s*</.test(text);
  return found.message !== null || !isReadable
    ? found
    : { ...NOTHING, message: readText(text, MAX_MESSAGE_CHARACTERS) };
}

/** Joins the status text that some frameworks put under `error` with the explanation under `message`. */
function joinMessages(error: string | null, message: string | null): string | null {
  if (error === null || message === null || message.includes(error)) return message ?? error;
  return error.includes(message) ? error : shorten(`${error}: ${message}`, MAX_MESSAGE_CHARACTERS);
}

/** Reads a nested error: another server's, JSON in the message, or the first member that has a message. */
function readInner(error: JsonObject, depth: number): UpstreamErrorText {
  if (depth >= MAX_DEPTH) return NOTHING;
  const { metadata, message } = error;
  const raw = isJsonObject(metadata) ? readUpstreamError(metadata["raw"], depth + 1) : NOTHING;
  if (raw.message !== null) return raw;
  if (typeof message === "string" && /^\s*[[{]/.test(message)) return readWrapped(message, depth);
  if (readFields(error).message !== null) return NOTHING;
  const { error: text } = error;
  const members = [text, ...Object.values(error).filter((member) => typeof member === "object")];
  const inner = members.map((member) => readUpstreamError(member, depth + 1));
  return inner.find((found) => found.message !== null) ?? NOTHING;
}

/** Picks the nested error's details, except its status, which the outer error decides. */
function pickDetails({ message, code, type, param }: UpstreamErrorText): Partial<UpstreamErrorText> {
  const found = Object.entries({ message, code, type, param }).filter(([, text]) => text !== null);
  return message === null ? {} : (Object.fromEntries(found) as Partial<UpstreamErrorText>);
}

/** Returns whether a parsed answer or chunk is an upstream error, or one of its choices is (OpenRouter). */
export function isUpstreamError(value: unknown): boolean {
  return isJsonObject(value) && (Boolean(findError(value)) || value["object"] === "error");
}

/** HTTP statuses of MiniMax's and Baidu's codes; all others are errors of the request. */
const STATUS_OF_CODE: ReadonlyMap<unknown, number> = new Map(
  Object.entries({
    401: [1004, 2049, 6, 13, 14, 15, 100, 110, 111],
    402: [1008, 17, 19],
    429: [1002, 1039, 4, 18, 336_501, 336_502],
    500: [1000, 1013, 2, 336_000, 336_100],
    504: [1001],
  }).flatMap(([status, codes]) => codes.map((code): [unknown, number] => [code, Number(status)])),
);

function findError(value: JsonObject): unknown {
  const { error, Error: upper, choices, errors, success, base_resp: base } = value;
  if (error) return error;
  if (isJsonObject(upper)) return upper;
  const code = isJsonObject(base) ? Number(base["status_code"] ?? 0) : 0;
  if (isJsonObject(base) && code !== 0) return createCoded(code, base["status_msg"]);
  if (Array.isArray(choices) && choices.length > 0) {
    return choices.filter(isJsonObject).find((choice) => Boolean(choice["error"]))?.["error"] ?? error;
  }
  if (success === false && Array.isArray(errors) && errors.length > 0) return errors;
  return findCoded(value) ?? error;
}

/** Members of answers. A value with one of them is not an error, whatever its code. */
const ANSWER_FIELDS = ["choices", "content", "output", "data", "usage"] as const;

function hasAnswer(value: JsonObject): boolean {
  return ANSWER_FIELDS.some((name) => Boolean(value[name]));
}

/**
 * Returns whether a whole body is an upstream error: it is one as a chunk, or its only content is a message. A chunk
 * with only a message may be about the progress.
 */
export function isErrorBody(value: unknown): boolean {
  if (isUpstreamError(value)) return true;
  return isJsonObject(value) && !hasAnswer(value) && readUpstreamError(value).message !== null;
}

/** Finds an error sent in place of an answer, by its code (Baidu, Zhipu, Spark), its status or FastAPI's `detail`. */
function findCoded(value: JsonObject): unknown {
  const { error_code: code, error_msg: found, success, status, type, detail } = value;
  if (typeof code === "number" && typeof found === "string") return createCoded(code, found);
  const fields = readFields(value);
  if (fields.message === null || hasAnswer(value)) return undefined;
  if (readStatus(status) !== null) return value;
  if (type !== undefined && type !== null && type !== "") return undefined;
  const { code: own } = value;
  const isCoded = (typeof own === "number" && own !== 0) || (typeof own === "string" && /[^0\s]/.test(own));
  const isFailed = success === false || status === "error" || fields.status !== null;
  return isCoded || isFailed || readMessage(detail) !== null ? value : undefined;
}

function createCoded(code: number, message: unknown): JsonObject {
  return { message, status: STATUS_OF_CODE.get(code) ?? 400 };
}

/** Names of the message, in order of preference. `Message` is AWS's. */
const MESSAGE_FIELDS = [
  "message",
  "Message",
  "detail",
  "msg",
  "error_description",
  "errorMessage",
  "error_message",
  "faultstring",
  "title",
  "details",
  "reason",
  "err",
  "text",
] as const;
/** Names of the HTTP status. `http_code` is MiniMax's, `statusCode` NestJS's. */
const STATUS_FIELDS = ["code", "status", "status_code", "statusCode", "http_code"] as const;

function readFields(fields: JsonObject): UpstreamErrorText {
  const { code, type, param, errors } = fields;
  const message =
    MESSAGE_FIELDS.map((name) => readMessage(fields[name])).find((text) => text !== null) ?? null;
  return {
    message: addViolations(message, fields["details"]) ?? readListed(errors),
    code: readText(code, 100),
    type: readText(type ?? fields["__type"], 100),
    param: readText(param, 200),
    status: STATUS_FIELDS.map((name) => readStatus(fields[name])).find((status) => status !== null) ?? null,
  };
}

/** Adds Google's `details`, which name the invalid fields that its message leaves out. */
function addViolations(message: string | null, details: unknown): string | null {
  if (!Array.isArray(details)) return message;
  const violations = details
    .filter(isJsonObject)
    .flatMap(({ fieldViolations }) =>
      Array.isArray(fieldViolations) ? fieldViolations.filter(isJsonObject) : [],
    )
    .slice(0, 5)
    .flatMap(({ field, description }) =>
      [field, description].filter((text) => typeof text === "string").join(": "),
    );
  if (violations.length === 0) return message;
  return readText([message, ...violations].filter(Boolean).join("; "), MAX_MESSAGE_CHARACTERS);
}

/** Reads the first of several messages, in a list or by field name. */
function readListed(errors: unknown): string | null {
  if (!Array.isArray(errors)) {
    const [first] = isJsonObject(errors) ? Object.entries(errors) : [];
    const found = first === undefined ? null : readListed([first[1]].flat());
    return found === null ? null : `${first?.[0]}: ${found}`;
  }
  const [error]: unknown[] = errors;
  return readMessage(isJsonObject(error) ? error["message"] : error);
}

function readText(value: unknown, maxCharacters: number): string | null {
  return typeof value === "string" && value.trim() !== "" ? shorten(value, maxCharacters) : null;
}

function readStatus(value: unknown): number | null {
  const status = typeof value === "string" && /^\d{3}$/.test(value) ? Number(value) : value;
  return typeof status === "number" && Number.isInteger(status) && status >= 400 && status < 600
    ? status
    : null;
}

/** Reads a text, an object with a text (`{detail: …}`, `{error: "text"}`), or FastAPI's list. */
function readMessage(message: unknown): string | null {
  if (Array.isArray(message)) return readDetails(message);
  if (!isJsonObject(message)) return readText(message, MAX_MESSAGE_CHARACTERS);
  const { detail, error } = message;
  const found = message["message"] ?? (isJsonObject(error) ? error["message"] : error);
  return readText(found, MAX_MESSAGE_CHARACTERS) ?? readDetails(detail);
}

/** Reads FastAPI's text or list of `{loc: ["body", "messages"], msg: "field required"}`. */
function readDetails(detail: unknown): string | null {
  if (!Array.isArray(detail)) return readText(detail, MAX_MESSAGE_CHARACTERS);
  const parts = detail.slice(0, 5).flatMap((entry: unknown) => {
    if (!isJsonObject(entry) || typeof entry["msg"] !== "string") return [];
    const path = Array.isArray(entry["loc"]) ? entry["loc"].filter((part) => part !== "body").join(".") : "";
    return [path === "" ? entry["msg"] : `${path}: ${entry["msg"]}`];
  });
  return readText(parts.join("; "), MAX_MESSAGE_CHARACTERS);
}
