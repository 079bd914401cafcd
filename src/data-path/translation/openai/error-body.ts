import type { GatewayError } from "../../../shared/contract/errors.ts";
import { createErrorObject } from "../error-object.ts";
import { formatEvent } from "../sse/encoder.ts";

/** Formats the body of an error response on the OpenAI routes. */
export function formatErrorBody(error: GatewayError, requestId: string | null): string {
  return JSON.stringify(createErrorBody(error, requestId));
}

/** Formats an error as the last chunk of a stream: OpenAI's SDKs raise an `APIError` for a chunk with an `error`. */
export function formatStreamError(error: GatewayError, requestId: string | null): string {
  return formatEvent(null, createErrorBody(error, requestId));
}

export function createErrorBody(error: GatewayError, requestId: string | null) {
  return { error: createErrorObject(error, requestId) };
}
