/**
 * JSON with exact integers: those beyond 2^53 become bigints. Bodies of requests and responses are parsed
 * with limits by `src/data-path/translation/json/exact-json.ts` instead.
 */

declare global {
  interface JSON {
    /** @see https://tc39.es/proposal-json-parse-with-source/ */
    rawJSON(text: string): object;
  }
}

const INTEGER = /^-?\d+$/;

/** @param value Anything that `JSON.stringify` accepts, and bigints. */
export function formatExactJson(value: unknown): string {
  return JSON.stringify(value, (_name, each: unknown) =>
    typeof each === "bigint" ? JSON.rawJSON(String(each)) : each,
  );
}

/** @throws SyntaxError */
export function parseExactJson(text: string): unknown {
  return JSON.parse(text, (_name, each: unknown, context?: { readonly source?: string }) => {
    if (typeof each !== "number" || Number.isSafeInteger(each)) return each;
    const { source = "" } = context ?? {};
    return INTEGER.test(source) ? BigInt(source) : each;
  });
}
