import { asBuffer } from "../../../shared/text/as-buffer.ts";
import { withoutByteOrderMark } from "../../../shared/text/byte-order-mark.ts";
import { isAscii, isUtf8, transcode } from "node:buffer";
import { GatewayError } from "../../../shared/contract/errors.ts";
import { isJsonObject, type JsonObject } from "../../../shared/text/json-object.ts";
import { oneStep, type Steps } from "../../../shared/event-loop/steps.ts";
import { JsonBoundError, REQUEST_BOUNDS } from "./json-bounds.ts";
import { findMembers, type MemberSpan } from "./object-spans.ts";

const LARGE_BYTES = 4 * 1024;

/** A JSON object with its text, so that single values in it can be replaced. */
export interface JsonBody {
  /** Text of the body without a BOM; it encodes back to exactly the received bytes. */
  readonly text: string;
  /** The received bytes of the text; null once the text was edited. */
  readonly bytes: Buffer | null;
  readonly value: JsonObject;
  /** The object's own members in text order, including repeated keys. */
  readonly members: readonly MemberSpan[];
}

/**
 * Parses a client's request body; each pass over the text is a step.
 * @param parse `readExactJson` for a body that is rewritten, whose integers must keep their digits.
 * @throws GatewayError `invalid_json` naming the defect and, if known, its position.
 */
export function* readJsonBody(
  body: Uint8Array,
  parse: (text: string) => Steps<unknown> = (text) => oneStep(() => JSON.parse(text) as unknown),
): Steps<JsonBody> {
  if (body.byteLength === 0) throw invalid("The request body is empty. Send a JSON object.");
  if (!isUtf8(body)) throw invalid("The request body is not valid UTF-8. Send JSON in UTF-8.");
  const bytes = withoutByteOrderMark(asBuffer(body));
  const text = decode(bytes);
  yield;
  if (text.trimStart() === "") throw invalid("The request body contains only spaces. Send a JSON object.");
  try {
    // The order matters: `findMembers` bounds the content before JSON.parse sees it.
    const members = findMembers(text, 0, REQUEST_BOUNDS);
    yield;
    const value = yield* parse(text);
    if (!isJsonObject(value) || members === null) {
      throw invalid(`The request body must be a JSON object, not ${describeJson(value)}.`);
    }
    return { text, bytes, value, members };
  } catch (error) {
    if (error instanceof JsonBoundError) {
      throw invalid(
        `The request body ${error.excess}, the most that this gateway accepts. Send less at once.`,
      );
    }
    if (error instanceof SyntaxError) throw invalid(`The request body is not valid JSON: ${error.message}.`);
    throw error;
  }
}

/**
 * Decodes UTF-8. For large text that is not ASCII, `toString` takes two to six times as long. @param bytes Valid
 * UTF-8.
 */
export function decode(bytes: Buffer): string {
  return bytes.length < LARGE_BYTES || isAscii(bytes)
    ? bytes.toString("utf8")
    : transcode(bytes, "utf8", "utf16le").toString("utf16le");
}

/** Replaces the text of a body; its value stays. */
export function withText<Body extends JsonBody>(body: Body, text: string): Body {
  return { ...body, text, bytes: null, members: findMembers(text) ?? [] };
}

/** Describes a value for a message: "an array", "a string", "null". */
export function describeJson(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return value.length === 0 ? "an empty array" : "an array";
  if (typeof value === "object") return "an object";
  if (value === "") return "an empty string";
  if (typeof value === "string") return "a string";
  if (typeof value === "bigint") return String(value);
  return JSON.stringify(value);
}

function invalid(message: string): GatewayError {
  return new GatewayError("invalid_json", { message });
}
