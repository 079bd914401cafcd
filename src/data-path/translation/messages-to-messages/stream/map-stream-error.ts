import type { GatewayError } from "../../../../shared/contract/errors.ts";
import { isJsonObject, type JsonObject } from "../../../../shared/text/json-object.ts";
import { mapErrorInAnswer } from "../../upstream/map-error.ts";

/** The HTTP status that each of Anthropic's types of errors has. What is about the gateway's own account is one thing. */
const STATUS_OF_TYPE: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 401,
  permission_error: 401,
  request_too_large: 413,
  rate_limit_error: 429,
  timeout_error: 504,
  overloaded_error: 529,
};

/** What an `error` event of an upstream means. @param event Its data. */
export function mapStreamError(event: JsonObject, model: string): GatewayError {
  const { error } = event;
  if (!isJsonObject(error)) return mapErrorInAnswer(event, { protocol: "messages", model });
  const { type } = error;
  const status = typeof type === "string" ? STATUS_OF_TYPE[type] : undefined;
  const told = status === undefined ? event : { error: { ...error, status } };
  return mapErrorInAnswer(told, { protocol: "messages", model });
}
