import type { GatewayError } from "../../../shared/contract/errors.ts";
import { createErrorObject } from "../error-object.ts";
import { formatEvent } from "../sse/encoder.ts";

/**
 * Formats an error response of the messages routes. The inner object is the same as on the OpenAI routes; Anthropic's
 * SDKs read `errorCode` from `details`. There is no `message` at the top level, because the SDKs would print it
 * instead.
 */
export function formatErrorBody(error: GatewayError, requestId: string | null): string {
  return JSON.stringify(createErrorBody(error, requestId));
}

/** Formats an error as the last event of a stream. */
export function formatStreamError(error: GatewayError, requestId: string | null): string {
  return formatEvent("error", createErrorBody(error, requestId));
}

export function createErrorBody(error: GatewayError, requestId: string | null) {
  return {
    type: "error",
    error: { ...createErrorObject(error, requestId), details: { error_code: error.publicCode } },
    request_id: requestId,
  };
}
