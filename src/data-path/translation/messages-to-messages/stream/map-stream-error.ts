import type { GatewayError } from "../../../../shared/contract/errors.ts";
import { isJsonObject, type JsonObject } from "../../../../shared/text/json-object.ts";
import { mapErrorInAnswer } from "../../upstream/map-error.ts";

/** HTTP status of each Anthropic error type. All errors about the gateway's own account share one. */
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

/** Maps an `error` event of an upstream. @param event Its data. */
export function mapStreamError(event: JsonObject, model: string): GatewayError {
  const { error } = event;
  if (!isJsonObject(error)) return mapErrorInAnswer(event, { protocol: "messages", model });
  const { type } = error;
  const status = typeof type === "string" ? STATUS_OF_TYPE[type] : undefined;
  const coded = status === undefined ? event : { error: { ...error, status } };
  return mapErrorInAnswer(coded, { protocol: "messages", model });
}
