import type { GatewayError } from "../../../shared/contract/errors.ts";
import { createErrorObject } from "../error-object.ts";
import { formatEvent } from "../sse/encoder.ts";

/** Body of an error response on the OpenAI routes. */
export function formatErrorBody(error: GatewayError, requestId: string | null): string {
  return JSON.stringify(createErrorBody(error, requestId));
}

/** The error as the last chunk of a stream: OpenAI's SDKs raise an `APIError` at a chunk with an `error`. */
export function formatStreamError(error: GatewayError, requestId: string | null): string {
  return formatEvent(null, createErrorBody(error, requestId));
}

/** The body as a value. */
export function createErrorBody(error: GatewayError, requestId: string | null) {
  return { error: createErrorObject(error, requestId) };
}
