import type { GatewayError } from "../../../shared/contract/errors.ts";
import { createErrorObject, type ErrorObject } from "../error-object.ts";
import { CONTEXT_LENGTH_EXCEEDED } from "../upstream/context-overflow.ts";
import type { ResponseObject } from "./response.ts";

/** What `response.error` says where clients know no better code. */
const SERVER_ERROR = "server_error";

/** The fields of an `error` event: OpenAI's are flat, Open Responses' and the SDKs' stand under `error`. */
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

/** What a response that failed says of it. */
export function createResponseError(error: GatewayError): NonNullable<ResponseObject["error"]> {
  const isTooLong = error.publicCode === CONTEXT_LENGTH_EXCEEDED;
  return { code: isTooLong ? CONTEXT_LENGTH_EXCEEDED : SERVER_ERROR, message: error.message };
}
