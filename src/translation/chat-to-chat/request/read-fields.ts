import { GatewayError } from "../../../errors.ts";
import { isJsonObject } from "../../../json-object.ts";
import { describeJson, type JsonBody } from "../../json/parse-body.ts";

/** What the gateway reads of a chat completion request; everything else is between client and upstream. */
export interface ChatFields {
  readonly model: string;
  readonly messages: readonly Readonly<Record<string, unknown>>[];
  readonly stream: boolean;
  readonly streamOptions: Readonly<Record<string, unknown>> | null;
  readonly choices: number;
  /** The larger of `max_completion_tokens` and `max_tokens`, or null. */
  readonly maxOutputTokens: number | null;
}

/** As many as OpenAI allows. */
const MAX_CHOICES = 128;

/**
 * Every field that is read or written here. Given twice, upstream and gateway could read different ones: a cheap model
 * would be charged and an expensive one used. Some servers also match keys without regard to case.
 */
const FIELDS: ReadonlySet<string> = new Set([
  "model",
  "messages",
  "stream",
  "stream_options",
  "n",
  "max_tokens",
  "max_completion_tokens",
  "tools",
  "functions",
  "response_format",
]);

/** @throws GatewayError 400 naming the field, what was found and what was expected. */
export function readChatFields(body: JsonBody): ChatFields {
  refuseAmbiguousKeys(body);
  const { value } = body;
  const { model, stream, stream_options: streamOptions } = value;
  if (model === undefined) throw missing("model", "the id of a model, as `GET /v1/models` lists them");
  if (typeof model !== "string" || model === "") throw invalid("model", "the id of a model, a string", model);
  const messages = readMessages(value["messages"]);
  if (!isAbsent(stream) && typeof stream !== "boolean") throw invalid("stream", "true or false", stream);
  if (!isAbsent(streamOptions) && !isJsonObject(streamOptions)) {
    throw invalid("stream_options", "an object", streamOptions);
  }
  const maxCompletionTokens = readInteger(value, "max_completion_tokens");
  const maxTokens = readInteger(value, "max_tokens");
  return {
    model,
    messages,
    stream: stream === true,
    streamOptions: streamOptions ?? null,
    choices: readInteger(value, "n", MAX_CHOICES) ?? 1,
    maxOutputTokens:
      maxCompletionTokens === null || maxTokens === null
        ? (maxCompletionTokens ?? maxTokens)
        : Math.max(maxCompletionTokens, maxTokens),
  };
}

function readMessages(messages: unknown): readonly Readonly<Record<string, unknown>>[] {
  if (messages === undefined) throw missing("messages", "an array of at least one message");
  if (!Array.isArray(messages) || messages.length === 0) {
    throw invalid("messages", "an array of at least one message", messages);
  }
  const wrong = messages.findIndex((message) => !isJsonObject(message));
  if (wrong !== -1) throw invalid(`messages.${wrong}`, "an object with a `role`", messages[wrong]);
  return messages as readonly Readonly<Record<string, unknown>>[];
}

function readInteger(
  value: Readonly<Record<string, unknown>>,
  name: string,
  max: number = Number.MAX_SAFE_INTEGER,
): number | null {
  const number = value[name];
  if (isAbsent(number)) return null;
  if (typeof number === "number" && Number.isInteger(number) && number >= 1 && number <= max) return number;
  const range = max === Number.MAX_SAFE_INTEGER ? "of at least 1" : `from 1 to ${max}`;
  throw invalid(name, `an integer ${range}`, number);
}

function refuseAmbiguousKeys({ members }: JsonBody): void {
  const seen = new Set<string>();
  for (const { key } of members) {
    if (FIELDS.has(key)) {
      if (seen.has(key)) {
        throw new GatewayError("invalid_parameter", {
          message: `\`${key}\` is given more than once: give it once.`,
          param: key,
        });
      }
      seen.add(key);
      continue;
    }
    const folded = foldCase(key);
    if (FIELDS.has(folded)) {
      throw new GatewayError("invalid_parameter", {
        message: `There is no field ${JSON.stringify(key)}: write it \`${folded}\`.`,
        param: key,
      });
    }
  }
}

/** By way of upper case, so that the long s and the Kelvin sign fold as they do in case-insensitive JSON readers. */
function foldCase(key: string): string {
  return key.toUpperCase().toLowerCase();
}

function isAbsent(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}

function missing(param: string, expected: string): GatewayError {
  return new GatewayError("missing_required_parameter", {
    message: `\`${param}\` is missing: expected ${expected}.`,
    param,
  });
}

function invalid(param: string, expected: string, found: unknown): GatewayError {
  return new GatewayError("invalid_parameter", {
    message: `\`${param}\` must be ${expected}, not ${describeJson(found)}.`,
    param,
  });
}
