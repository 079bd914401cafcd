import { shorten } from "../../text/shorten.ts";
import { asBuffer } from "../../text/as-buffer.ts";
import { isJsonObject, type JsonObject } from "../../text/json-object.ts";
import { isUtf8 } from "node:buffer";
import { JsonBoundError } from "../json/json-bounds.ts";
import { boundJsonText } from "../json/parse-json-text.ts";

/** What an upstream says about an error, whatever server it is; null where it says nothing. */
export interface UpstreamErrorText {
  readonly message: string | null;
  readonly code: string | null;
  /** Its kind, in the server's own words. */
  readonly type: string | null;
  readonly param: string | null;
  /** HTTP status that the error object itself names: the only one there is inside an answer of status 200. */
  readonly status: number | null;
}

/** Some servers repeat the whole input in their message. */
const MAX_MESSAGE_CHARACTERS = 2_000;
const MAX_PLAIN_TEXT_CHARACTERS = 500;
/** Finds the message of a body that was cut within it. */
const CUT_MESSAGE = /"(?:message|detail|error|msg)"\s*:\s*"((?:[^"\\]|\\.)+)/;

const NOTHING: UpstreamErrorText = { message: null, code: null, type: null, param: null, status: null };

/**
 * Reads an upstream's error body: OpenAI and current vLLM (`error.message`), older vLLM (`object: "error"`), Ollama
 * (`error: "text"`), FastAPI (`detail`), and plain text, of which the first 500 characters count on a 4xx. Never throws.
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

/** The text without a last character of which only the first bytes are there; "" where it is no UTF-8. */
function decodeWhole(body: Uint8Array): string {
  for (let cut = 0; cut < 4 && cut < body.byteLength; cut++) {
    const whole = body.subarray(0, body.byteLength - cut);
    if (isUtf8(whole)) return asBuffer(whole).toString("utf8");
  }
  return "";
}

/** The message of JSON whose end is missing: servers repeat a whole input in it, and only the beginning is read. */
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
 * The same for a value that has been parsed already: an answer of status 200, a chunk of a stream. A list counts by its
 * first entry (Gemini), `message` and `detail` may hold what others have at the top (vLLM's validation, LiteLLM).
 */
export function readUpstreamError(value: unknown): UpstreamErrorText {
  if (Array.isArray(value)) return readUpstreamError(value[0]);
  if (typeof value === "string") return { ...NOTHING, message: shorten(value, MAX_MESSAGE_CHARACTERS) };
  if (!isJsonObject(value)) return NOTHING;
  const error = findError(value);
  if (typeof error === "string" && error !== "") {
    return { ...readFields(value), message: shorten(error, MAX_MESSAGE_CHARACTERS) };
  }
  if (isJsonObject(error)) return readFields(error);
  const fields = readFields(value);
  return fields.message === null && Array.isArray(error) ? { ...fields, ...readListed(error) } : fields;
}

/** The message of a list's first entry, which is one or has one. */
function readListed([first]: readonly unknown[]): Pick<UpstreamErrorText, "message"> {
  const { message } = isJsonObject(first) || typeof first === "string" ? readUpstreamError(first) : NOTHING;
  return { message };
}

/** Whether a parsed answer or chunk is an upstream's error instead, or one of its choices is (OpenRouter). */
export function isUpstreamError(value: unknown): boolean {
  return isJsonObject(value) && (Boolean(findError(value)) || value["object"] === "error");
}

function findError({ error, choices }: JsonObject): unknown {
  if (Boolean(error) || !Array.isArray(choices)) return error;
  for (const choice of choices) if (isJsonObject(choice) && Boolean(choice["error"])) return choice["error"];
  return error;
}

function readFields(fields: Record<string, unknown>): UpstreamErrorText {
  const { message, detail, msg, code, type, param } = fields;
  return {
    message: readMessage(message) ?? readMessage(detail) ?? readText(msg, MAX_MESSAGE_CHARACTERS),
    code: readText(code, 100),
    type: readText(type, 100),
    param: readText(param, 200),
    status: readStatus(code) ?? readStatus(fields["status"]),
  };
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

/** A text, or an object that has it under a name of its own (`{detail: …}`, `{error: "text"}`), or FastAPI's list. */
function readMessage(message: unknown): string | null {
  if (Array.isArray(message)) return readDetails(message);
  if (!isJsonObject(message)) return readText(message, MAX_MESSAGE_CHARACTERS);
  const { detail, error } = message;
  const told = message["message"] ?? (isJsonObject(error) ? error["message"] : error);
  return readText(told, MAX_MESSAGE_CHARACTERS) ?? readDetails(detail);
}

/** FastAPI: a text, or a list of `{loc: ["body", "messages"], msg: "field required"}`. */
function readDetails(detail: unknown): string | null {
  if (!Array.isArray(detail)) return readText(detail, MAX_MESSAGE_CHARACTERS);
  const parts = detail.slice(0, 5).flatMap((entry: unknown) => {
    if (!isJsonObject(entry) || typeof entry["msg"] !== "string") return [];
    const path = Array.isArray(entry["loc"]) ? entry["loc"].filter((part) => part !== "body").join(".") : "";
    return [path === "" ? entry["msg"] : `${path}: ${entry["msg"]}`];
  });
  return readText(parts.join("; "), MAX_MESSAGE_CHARACTERS);
}
