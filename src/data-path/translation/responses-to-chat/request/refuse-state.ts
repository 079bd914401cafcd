import type { JsonObject } from "../../../../shared/text/json-object.ts";
import { foldFieldName } from "../../../../shared/contract/cost-fields.ts";
import { unsupportedField } from "../../json/field-error.ts";

const WHOLE_INPUT = "this gateway stores no responses; send the whole input with every request";

/** Fields that use or request stored state: ignoring one would answer without the conversation. */
const REFUSED = {
  previous_response_id: WHOLE_INPUT,
  conversation: WHOLE_INPUT,
  prompt: "this gateway stores no prompts; send `instructions` and `input`",
  background:
    "this gateway stores no responses; leave `background` out and use `stream: true` for long responses",
} as const;

/** Every field that `refuseState` reads. */
export const STATE_FIELDS: readonly string[] = Object.keys(REFUSED);

const BY_FOLDED_NAME: ReadonlyMap<string, { readonly field: string; readonly reason: string }> = new Map(
  Object.entries(REFUSED).map(([field, reason]) => [foldFieldName(field), { field, reason }]),
);

/**
 * Rejects stateful fields in any spelling and with any value: servers differ in whether "true" and 1 count as true,
 * and in whether they know `previousResponseId`.
 * @throws GatewayError 400 naming the alternative. Accepts `store`, because the SDKs send true by default.
 */
export function refuseState(body: JsonObject): void {
  for (const [key, value] of Object.entries(body)) {
    const refused = BY_FOLDED_NAME.get(foldFieldName(key));
    if (refused === undefined || value === undefined || value === null) continue;
    if (refused.field === "background" && value === false) continue;
    throw unsupportedField(key, refused.reason);
  }
}
