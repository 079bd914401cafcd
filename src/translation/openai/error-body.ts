import type { GatewayError } from "../../errors.ts";
import { formatEvent } from "../sse/encoder.ts";

/** The object under `error` that every error of this gateway has, on every route. */
export interface ErrorObject {
  readonly message: string;
  readonly type: string;
  readonly code: string;
  readonly param: string | null;
  readonly request_id: string | null;
  /** What the error adds: `scope`, `spent_cents`, `hard_cap_cents`. */
  readonly [field: string]: string | number | boolean | null;
}

/** Shared by both protocols; only public values are in it. */
export function createErrorObject(error: GatewayError, requestId: string | null): ErrorObject {
  return {
    message: error.message,
    type: error.type,
    code: error.publicCode,
    param: error.param,
    request_id: requestId,
    ...error.fields,
  };
}

/** Body of an error response on the OpenAI routes. */
export function formatErrorBody(error: GatewayError, requestId: string | null): string {
  return JSON.stringify({ error: createErrorObject(error, requestId) });
}

/** The error as the last chunk of a stream: OpenAI's SDKs raise an `APIError` at a chunk with an `error`. */
export function formatErrorChunk(error: GatewayError, requestId: string | null): string {
  return formatEvent(null, { error: createErrorObject(error, requestId) });
}
