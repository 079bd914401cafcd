import type { JsonObject } from "../../../json-object.ts";
import { unsupportedField } from "../../json/field-error.ts";

const WHOLE_INPUT = "this gateway stores no responses; send the whole input with every request";

/** Fields that refer to something stored, or ask for it: to drop one would answer without the conversation. */
const REFUSED = [
  { field: "previous_response_id", reason: WHOLE_INPUT },
  { field: "conversation", reason: WHOLE_INPUT },
  { field: "prompt", reason: "this gateway stores no prompts; send `instructions` and `input`" },
] as const;

/** Every field that `refuseState` reads. */
export const STATE_FIELDS: readonly string[] = [...REFUSED.map(({ field }) => field), "background"];

/** @throws GatewayError 400 saying what to send instead. `store` is no such request: the SDKs' default is true. */
export function refuseState(body: JsonObject): void {
  for (const { field, reason } of REFUSED) {
    if (body[field] !== undefined && body[field] !== null) throw unsupportedField(field, reason);
  }
  // Servers take "true" and 1 for it as well.
  if (body["background"] !== undefined && body["background"] !== null && body["background"] !== false) {
    throw unsupportedField(
      "background",
      "this gateway stores no responses; leave `background` out and use `stream: true` for long answers",
    );
  }
}
