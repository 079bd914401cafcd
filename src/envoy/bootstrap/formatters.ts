/** Envoy's command operators that several parts of the bootstrap use. */

export interface Operator {
  readonly command: string;
  readonly param: string;
  /** Maximum number of characters written. */
  readonly max_length?: number;
}

/** Formats the first operator that has a value. */
export function formatFirst(...operators: Operator[]): string {
  return `%COALESCE(${JSON.stringify({ operators })})%`;
}

/** Returns the operator of a dynamic metadata field. */
export function metadata(namespace: string, field: string): Operator {
  return { command: "DYNAMIC_METADATA", param: `${namespace}:${field}` };
}

/**
 * Id of a request, from its admission or from the edge. Requests that Envoy rejects before reading their
 * headers have none and get their start time in nanoseconds, the same in headers, body and access log.
 */
export const REQUEST_ID = formatRequestId({});

/** Same for the access log, where ids from clients are truncated. */
export const LOGGED_REQUEST_ID = formatRequestId({ max_length: 64 });

function formatRequestId(bound: Pick<Operator, "max_length">): string {
  return formatFirst(
    { command: "REQ", param: "X-REQUEST-ID", ...bound },
    { command: "START_TIME", param: "req_%s%9f" },
  );
}
