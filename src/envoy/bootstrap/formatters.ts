/** Envoy's command operators that several parts of the bootstrap use. */

export interface Operator {
  readonly command: string;
  readonly param: string;
  /** Characters of the value that are written. */
  readonly max_length?: number;
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
export const REQUEST_ID = formatRequestId({});

/** The same for the access log, where an id of the client's is cut. */
export const LOGGED_REQUEST_ID = formatRequestId({ max_length: 64 });

function formatRequestId(bound: Pick<Operator, "max_length">): string {
  return formatFirst(
    { command: "REQ", param: "X-REQUEST-ID", ...bound },
    { command: "START_TIME", param: "req_%s%9f" },
  );
}
