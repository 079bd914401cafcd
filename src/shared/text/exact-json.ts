/**
 * JSON whose integers keep all their digits: those beyond 2^53 are bigints here. Bodies of requests and answers are parsed
 * within bounds, by `src/data-path/translation/json/exact-json.ts`.
 */

declare global {
  interface JSON {
    /** @see https://tc39.es/proposal-json-parse-with-source/ */
    rawJSON(text: string): object;
  }
}

const INTEGER = /^-?\d+$/;

/** @param value What `JSON.stringify` takes, and bigints. */
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
