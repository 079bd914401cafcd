import type { ModelTarget, ProtocolName } from "../client-protocol.ts";
import { unquoted, unsupportedField } from "../json/field-error.ts";
import type { JsonBody } from "../json/parse-body.ts";
import { findCostField } from "../../../shared/contract/cost-fields.ts";
import { isHarmlessField } from "./known-fields.ts";

export interface FieldTerms {
  readonly protocol: ProtocolName;
  readonly model: Pick<ModelTarget, "id" | "profile">;
  readonly isStrict: boolean;
}

/**
 * Rejects fields that select another model or generate more than the gateway can see and, under strict caps, every
 * field whose effect on the cost is unknown. A null field requests nothing.
 * @throws GatewayError 400 naming the field, and what to do.
 */
export function refuseFields({ text, members }: JsonBody, { protocol, model, isStrict }: FieldTerms): void {
  for (const { key, valueStart, valueEnd } of members) {
    if (isHarmlessField(protocol, key) || text.slice(valueStart, valueEnd) === "null") continue;
    const field = findCostField(key);
    if (field?.kind === "refused") {
      throw unsupportedField(unquoted(key), `this field isn't supported; ${field.instead}`);
    }
    if (!isStrict || field !== undefined || model.profile.passthroughFields.includes(key)) continue;
    throw unsupportedField(
      unquoted(key),
      "strict caps don't allow this field, because its effect on the cost is unknown; remove it, or ask the operator to " +
        `add it to \`passthrough_fields\` in the profile of \`${model.id}\``,
    );
  }
}

/** Returns whether a field is removed before the body goes upstream. Names are not case-sensitive. */
export function isRemovedField(key: string, protocol: ProtocolName): boolean {
  if (isHarmlessField(protocol, key)) return false;
  return findCostField(key) !== undefined;
}
