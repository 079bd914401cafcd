import type { GatewayError } from "../../../shared/contract/errors.ts";
import { createErrorObject, type ErrorObject } from "../error-object.ts";
import { CONTEXT_LENGTH_EXCEEDED } from "../upstream/context-overflow.ts";
import type { ResponseObject } from "./response.ts";

/** Code in `response.error`, unless clients know a more specific one. */
const SERVER_ERROR = "server_error";

/** Fields of an `error` event: flat in OpenAI's protocol, under `error` for Open Responses and the SDKs. */
export interface ErrorFields {
  readonly code: string;
  readonly message: string;
  readonly param: string | null;
  readonly error: ErrorObject;
}

export function createErrorFields(error: GatewayError, requestId: string | null): ErrorFields {
  const object = createErrorObject(error, requestId);
  return { code: object.code, message: object.message, param: object.param, error: object };
}

/** Formats the error of a failed response. */
export function createResponseError(error: GatewayError): NonNullable<ResponseObject["error"]> {
  const isTooLong = error.publicCode === CONTEXT_LENGTH_EXCEEDED;
  return { code: isTooLong ? CONTEXT_LENGTH_EXCEEDED : SERVER_ERROR, message: error.message };
}
