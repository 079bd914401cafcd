import type { JsonObject } from "../../../../shared/text/json-object.ts";
import { REASONING_EFFORTS, type ReasoningEffort } from "../../../../shared/contract/model-profile.ts";
import { unsupportedField } from "../../json/field-error.ts";
import { readOptionalObject, readOptionalString } from "../../json/read-field.ts";
import type { ReasoningDisplay } from "../answer-settings.ts";

/** Reasoning settings of a request. */
export interface RequestedReasoning {
  /** Null: not set, the model's default applies. */
  readonly effort: ReasoningEffort | null;
  readonly display: ReasoningDisplay;
  /** The client's values, repeated in the response. */
  readonly given: { readonly effort: string | null; readonly summary: string | null };
}

/**
 * Ignores an unknown effort, because Codex sends one with every request.
 * @throws GatewayError 400, also for chat's own field: ignoring it would answer at another effort than requested.
 */
export function parseReasoning(body: JsonObject): RequestedReasoning {
  if ((body["reasoning_effort"] ?? null) !== null) {
    throw unsupportedField("reasoning_effort", "on this route, use `reasoning: {effort: …}`");
  }
  const reasoning = readOptionalObject(body["reasoning"], "reasoning") ?? {};
  const word = readOptionalString(reasoning["effort"], "reasoning.effort");
  const summary =
    readOptionalString(reasoning["summary"], "reasoning.summary") ??
    // Name of the field in the first months of the protocol.
    readOptionalString(reasoning["generate_summary"], "reasoning.generate_summary");
  const effort = REASONING_EFFORTS.find((known) => known === word) ?? null;
  return { effort, display: mapDisplay(effort, summary), given: { effort: word, summary } };
}

function mapDisplay(effort: ReasoningEffort | null, summary: string | null): ReasoningDisplay {
  if (effort === "none") return "hidden";
  return summary === null ? "content" : "summary";
}
