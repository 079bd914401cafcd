/** Envoy's command operators that several parts of the bootstrap use. */

export interface Operator {
  readonly command: string;
  readonly param: string;
}

/** The first of some operators that has a value. */
export function formatFirst(...operators: Operator[]): string {
  return `%COALESCE(${JSON.stringify({ operators })})%`;
}

/** A field of dynamic metadata. */
export function metadata(namespace: string, field: string): Operator {
  return { command: "DYNAMIC_METADATA", param: `${namespace}:${field}` };
}

/**
 * The id that a request has, by admission or from the edge. What Envoy refuses before it has read the headers has none:
 * that gets one of the time at which it began, in nanoseconds, the same in headers, body and access log.
 */
export const REQUEST_ID = formatFirst(
  { command: "REQ", param: "X-REQUEST-ID" },
  { command: "START_TIME", param: "req_%s%9f" },
);
