import type { ModelTarget, ProtocolName } from "../client-protocol.ts";
import { unquoted, unsupportedField } from "../json/field-error.ts";
import type { JsonBody } from "../json/parse-body.ts";
import { findCostField } from "../../../shared/contract/cost-fields.ts";
import { isHarmlessField } from "./known-fields.ts";

/** The terms on which a client's own fields go upstream. */
export interface FieldTerms {
  readonly protocol: ProtocolName;
  readonly model: Pick<ModelTarget, "id" | "profile">;
  readonly isStrict: boolean;
}

/**
 * Rejects what would have another model answer, or more be generated than the gateway can see; under strict caps also
 * every field whose effect on the cost is unknown. A field that is null asks for nothing.
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

/** Whether a field does not go upstream: of a closed list, in whatever letters. */
export function isTakenOff(key: string, protocol: ProtocolName): boolean {
  if (isHarmlessField(protocol, key)) return false;
  return findCostField(key) !== undefined;
}
