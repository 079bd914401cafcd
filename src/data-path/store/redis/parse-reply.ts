/** Parsers for replies of scripts: arrays of strings and integers, '' for none. Anything else is a defect of ours. */

/**
 * Parses an array or the JSON of one. Replies on the request path are one text, since ioredis takes about 1.5
 * µs per text.
 * @throws TypeError for anything else.
 */
export function parseArray(reply: unknown): readonly unknown[] {
  if (typeof reply === "string") return parseArray(JSON.parse(reply));
  if (!Array.isArray(reply)) throw new TypeError(`a script replied ${typeof reply}, not an array`);
  return reply;
}

/** @throws TypeError if there is no text at this position. */
export function textAt(reply: readonly unknown[], position: number): string {
  const value = reply[position];
  if (typeof value !== "string") throw new TypeError(`a script replied no text at position ${position}`);
  return value;
}

/** Returns a safe integer. */
export function integerAt(reply: readonly unknown[], position: number): number {
  return parseInteger(textAt(reply, position));
}

export function integerOrNullAt(reply: readonly unknown[], position: number): number | null {
  return parseIntegerOrNull(textAt(reply, position));
}

export function amountAt(reply: readonly unknown[], position: number): bigint {
  return BigInt(textAt(reply, position));
}

/** @throws TypeError if the text is not a safe integer. */
export function parseInteger(text: string): number {
  const value = Number(text);
  if (text === "" || !Number.isSafeInteger(value)) {
    throw new TypeError(`"${text}" in Redis is not an integer`);
  }
  return value;
}

export function parseIntegerOrNull(text: string | undefined): number | null {
  return text === undefined || text === "" ? null : parseInteger(text);
}

/** Parses the reply of HGETALL inside a script: field, value, field, value … */
export function parseFields(reply: unknown): Record<string, string> {
  const fields: Record<string, string> = {};
  const items = parseArray(reply);
  for (let position = 0; position + 1 < items.length; position += 2) {
    fields[textAt(items, position)] = textAt(items, position + 1);
  }
  return fields;
}

/**
 * Formats a non-negative amount for a script, which computes in doubles.
 * @throws RangeError if it is negative or above 2^53 - 1.
 */
export function formatAmount(microcents: bigint): string {
  if (microcents < 0n || microcents > BigInt(Number.MAX_SAFE_INTEGER)) {
    throw new RangeError(`${microcents} microcents are outside of what one request can cost`);
  }
  return String(microcents);
}

/** @throws RangeError if it is not an integer from 0 to 2^53 - 1. */
export function formatCount(count: number): string {
  if (!Number.isSafeInteger(count) || count < 0) throw new RangeError(`${count} is not a count`);
  return String(count);
}

export function unknownOutcome(outcome: string): TypeError {
  return new TypeError(`a script replied an outcome that is not known: "${outcome}"`);
}
