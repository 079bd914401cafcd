/** An upstream's JSON answer that passes through except for a few values. */
import { asBuffer } from "../../../shared/text/as-buffer.ts";
import { isJsonObject, type JsonObject } from "../../../shared/text/json-object.ts";
import { ANSWER_BOUNDS, NESTING_ONLY } from "../json/json-bounds.ts";
import { formatJson, parseExactJson } from "../json/exact-json.ts";
import { brokenAnswer } from "../upstream/broken-answer.ts";
import { applyEdits, findMembers, type MemberSpan } from "../json/object-spans.ts";

export interface AnswerText {
  readonly text: string;
  readonly members: readonly MemberSpan[];
}

export interface ParsedAnswer extends AnswerText {
  readonly value: JsonObject;
}

/**
 * @param bounds Bounds to enforce if the answer is parsed next.
 * @throws GatewayError `upstream_error` if it is visibly not a JSON object. Values are not checked.
 */
export function readAnswerText(body: Uint8Array, bounds = NESTING_ONLY): AnswerText {
  const text = asBuffer(body).toString("utf8");
  const members = guardJson(() => findMembers(text, 0, bounds));
  if (members === null) throw brokenAnswer("it is not a JSON object");
  return { text, members };
}

/** @throws GatewayError `upstream_error` if it is not a JSON object. */
export function parseAnswer(body: Uint8Array): ParsedAnswer {
  const { text, members } = readAnswerText(body, ANSWER_BOUNDS);
  const value = guardJson(() => parseExactJson(text));
  if (!isJsonObject(value)) throw brokenAnswer("it is not a JSON object");
  return { text, members, value };
}

/** Replaces values by key; missing keys are not added. */
export function replaceMembers({ text, members }: AnswerText, values: JsonObject): string {
  const edits = members
    .filter(({ key }) => Object.hasOwn(values, key))
    .map(({ key, valueStart, valueEnd }) => ({
      start: valueStart,
      end: valueEnd,
      replacement: formatJson(values[key]),
    }));
  return applyEdits(text, edits);
}

/** Runs a parser of an answer. @throws GatewayError `upstream_error` if the parser throws. */
export function guardJson<Value>(read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    throw brokenAnswer("it is not JSON", error);
  }
}
