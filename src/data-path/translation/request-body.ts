import type { Steps } from "../../shared/event-loop/steps.ts";
import type { RequestBody } from "./client-protocol.ts";
import { refuseAmbiguousKeys } from "./openai/request-fields.ts";
import { readExactJson } from "./json/exact-json.ts";
import { missingField } from "./json/field-error.ts";
import { type JsonBody, readJsonBody } from "./json/parse-body.ts";

/**
 * Reads a body, keeping all digits of its numbers, and its model.
 * @param fields Fields that must not be given twice, including `model`.
 * @throws GatewayError 400 naming the field and what was expected.
 */
export function* readRequestBody(bytes: Uint8Array, fields: ReadonlySet<string>): Steps<RequestBody> {
  const body = yield* readJsonBody(bytes, readExactJson);
  refuseAmbiguousKeys(body, fields);
  const { model } = body.value;
  if (typeof model !== "string" || model === "") throw missingField("model");
  return nameModel(body, model);
}

export function nameModel({ text, bytes, value, members }: JsonBody, model: string): RequestBody {
  return { text, bytes, value, members, model };
}
