/**
 * Embeddings of the demo model: each word changes a few of a vector's components, so that texts with common
 * words are similar. A word, or a token id, counts as one token.
 */
import { createHash } from "node:crypto";
import { isJsonObject } from "../../shared/text/json-object.ts";
import { DemoRequestError, splitWords } from "./completion.ts";

const DEFAULT_DIMENSIONS = 64;
const MAX_DIMENSIONS = 4_096;
const BYTES_PER_NUMBER = 4;

/**
 * Returns the response to an embeddings request.
 * @throws DemoRequestError for an invalid body.
 */
export function createDemoEmbeddings(body: unknown): object {
  if (!isJsonObject(body)) throw new DemoRequestError("The request body must be a JSON object.", null);
  const { model, encoding_format: format, dimensions = DEFAULT_DIMENSIONS } = body;
  if (typeof dimensions !== "number" || !(dimensions >= 1 && dimensions <= MAX_DIMENSIONS)) {
    const message = `\`dimensions\` must be a number from 1 to ${MAX_DIMENSIONS}.`;
    throw new DemoRequestError(message, "dimensions");
  }
  const inputs = readPrompts(body["input"], "input");
  const tokens = inputs.reduce((sum, words) => sum + words.length, 0);
  const data = inputs.map((words, index) => {
    const vector = embed(words, Math.floor(dimensions));
    return { object: "embedding", index, embedding: format === "base64" ? toBase64(vector) : vector };
  });
  return { object: "list", data, model, usage: { prompt_tokens: tokens, total_tokens: tokens } };
}

/**
 * Returns the words of each prompt: a text, token ids, or a list of either.
 * @throws DemoRequestError for anything else.
 */
export function readPrompts(value: unknown, param: string): readonly (readonly string[])[] {
  const list: readonly unknown[] = Array.isArray(value) && !value.every(isNumber) ? value : [value];
  return list.map((one) => {
    if (typeof one === "string") return splitWords(one);
    if (Array.isArray(one) && one.length > 0 && one.every(isNumber)) return one.map((id) => ` ${id}`);
    const message = `\`${param}\` must be a string, an array of token ids, or an array of either.`;
    throw new DemoRequestError(message, param);
  });
}

function isNumber(value: unknown): value is number {
  return typeof value === "number";
}

/** Returns a unit vector, or zeros without words. */
function embed(words: readonly string[], dimensions: number): number[] {
  const vector = Array.from({ length: dimensions }, () => 0);
  for (const word of words) {
    const hash = createHash("sha256").update(word.trim().toLowerCase()).digest();
    for (let offset = 0; offset < hash.length; offset += BYTES_PER_NUMBER) {
      const place = hash.readUInt32LE(offset);
      const index = place % dimensions;
      vector[index] = (vector[index] ?? 0) + (place >>> 31 === 1 ? 1 : -1);
    }
  }
  const length = Math.hypot(...vector);
  return length === 0 ? vector : vector.map((number) => number / length);
}

function toBase64(vector: readonly number[]): string {
  const bytes = Buffer.alloc(vector.length * BYTES_PER_NUMBER);
  for (const [index, number] of vector.entries()) bytes.writeFloatLE(number, index * BYTES_PER_NUMBER);
  return bytes.toString("base64");
}
