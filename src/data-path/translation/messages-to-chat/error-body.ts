import type { GatewayError } from "../../../shared/contract/errors.ts";
import { createErrorObject } from "../error-object.ts";
import { formatEvent } from "../sse/encoder.ts";

/**
 * Body of an error response on the messages routes. The inner object is the same as on the OpenAI routes; `details` is
 * where Anthropic's SDKs read `errorCode`. There is no `message` at the top level: the SDKs would print it instead.
 */
export function formatErrorBody(error: GatewayError, requestId: string | null): string {
  return JSON.stringify(createErrorBody(error, requestId));
}

/** The error as the last event of a stream that has begun. */
export function formatStreamError(error: GatewayError, requestId: string | null): string {
  return formatEvent("error", createErrorBody(error, requestId));
}

/** The body as a value. */
export function createErrorBody(error: GatewayError, requestId: string | null) {
  return {
    type: "error",
    error: { ...createErrorObject(error, requestId), details: { error_code: error.publicCode } },
    request_id: requestId,
  };
}
