/** Bodies of the largest size that take as much work as they may: each of another kind of work. */
import { CHAT_MODEL } from "../support/gateway-config.ts";

export const NATIVE_MODEL = "acme/native";

export interface WaitRoute {
  readonly name: string;
  readonly path: string;
  readonly model: string;
  /** The prompt, where it is a string. */
  readonly formatPrompt: (json: string) => string;
}

const inMessages = (json: string): string => `"max_tokens":9,"messages":[{"role":"user","content":${json}}]`;
const asInput = (json: string): string => `"input":${json}`;
const asPrompt = (json: string): string => `"prompt":${json}`;

export const WAIT_ROUTES: readonly WaitRoute[] = [
  { name: "chat", path: "/v1/chat/completions", model: CHAT_MODEL, formatPrompt: inMessages },
  { name: "messages", path: "/v1/messages", model: CHAT_MODEL, formatPrompt: inMessages },
  { name: "messages, native", path: "/v1/messages", model: NATIVE_MODEL, formatPrompt: inMessages },
  { name: "count_tokens", path: "/v1/messages/count_tokens", model: CHAT_MODEL, formatPrompt: inMessages },
  { name: "responses", path: "/v1/responses", model: CHAT_MODEL, formatPrompt: asInput },
  { name: "responses, native", path: "/v1/responses", model: NATIVE_MODEL, formatPrompt: asInput },
  { name: "input_tokens", path: "/v1/responses/input_tokens", model: CHAT_MODEL, formatPrompt: asInput },
  { name: "completions", path: "/v1/completions", model: CHAT_MODEL, formatPrompt: asPrompt },
  { name: "embeddings", path: "/v1/embeddings", model: CHAT_MODEL, formatPrompt: asInput },
];

/** A little less than `limits.max_body_bytes`. */
const BYTES = 33_554_432 - 1_000;
/** A little less than what `src/data-path/translation/json/json-bounds.ts` takes. */
const NAMES = 240_000;
const OBJECTS = 120_000;
const NUMBERS = 1_900_000;
const LONG_INTEGERS = 99_000;
const NESTING = 500;

/** So many values, or as many as fit. */
function list(count: number, format: (index: number) => string): string {
  const values: string[] = [];
  let bytes = 0;
  for (let index = 0; index < count; index += 1) {
    const value = format(index);
    bytes += value.length + 1;
    if (bytes > BYTES) break;
    values.push(value);
  }
  return values.join(",");
}

export interface WaitShape {
  readonly name: string;
  readonly isPrompt: boolean;
  readonly make: () => string;
}

const prompt = (name: string, unit: string): WaitShape => ({
  name,
  isPrompt: true,
  make: () => `"${unit.repeat(Math.floor(BYTES / Buffer.byteLength(unit)))}"`,
});
const field = (name: string, make: () => string): WaitShape => ({ name, isPrompt: false, make });

export const WAIT_SHAPES: readonly WaitShape[] = [
  prompt("one text", "x "),
  prompt("one text, not ASCII", "ü "),
  prompt("escapes", String.raw`\u00fc`),
  prompt("backslashes", "\\\\"),
  field("names", () => `{${list(NAMES, (index) => `"k${index.toString(36)}":0`)}}`),
  field("names that are numbers", () => `{${list(NAMES, (index) => `"${4_294_967_295 - index}":0`)}}`),
  field("objects, each with its own name", () => `[${list(OBJECTS, (index) => `{"k${index}":0}`)}]`),
  field("strings", () => `[${list(NAMES, () => `"${"x".repeat(130)}"`)}]`),
  field("nested lists", () => `[${list(NAMES / NESTING, () => "[".repeat(NESTING) + "]".repeat(NESTING))}]`),
  field("numbers", () => `[${list(NUMBERS, (index) => `0.${index}123456789`)}]`),
  field("long integers", () => `[${list(LONG_INTEGERS, () => "7".repeat(320))}]`),
  field("one number", () => "7".repeat(BYTES)),
  field("white space", () => `${" ".repeat(BYTES)}0`),
];

export function formatWaitBody({ model, formatPrompt }: WaitRoute, { isPrompt, make }: WaitShape): Buffer {
  const fields = isPrompt ? formatPrompt(make()) : `${formatPrompt('"x"')},"metadata":${make()}`;
  return Buffer.from(`{"model":"${model}",${fields}}`);
}
