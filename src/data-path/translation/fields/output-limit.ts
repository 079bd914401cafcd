/** The one limit of output tokens that goes upstream. */
import type { ModelTarget } from "../client-protocol.ts";
import { unsupportedField } from "../json/field-error.ts";
import type { JsonBody } from "../json/parse-body.ts";
import { findCostField } from "../../../shared/contract/cost-fields.ts";

export interface OutputLimit {
  /** The names under which it goes upstream. */
  readonly names: readonly string[];
  /** Null: the client gave none, and none is needed. */
  readonly tokens: number | null;
}

/** What a client's limit becomes. */
export interface LimitTerms {
  readonly model: Pick<ModelTarget, "maxOutputTokens">;
  readonly isStrict: boolean;
  /** Tokens that the caps leave room for; null: as many as client and model allow. */
  readonly affordable: number | null;
}

/**
 * The smallest of the client's limit, the model's and what the caps leave room for. Under strict caps there is always one.
 * @param asked Null: the client gave none.
 * @throws GatewayError 400 under strict caps for 0, which Ollama takes for none.
 */
export function limitOutput(
  names: readonly string[],
  asked: number | null,
  { model, isStrict, affordable }: LimitTerms,
): OutputLimit {
  if (asked === null && affordable === null) {
    return { names, tokens: isStrict ? model.maxOutputTokens : null };
  }
  if (asked === 0 && isStrict) {
    throw unsupportedField(
      names[0] ?? "max_tokens",
      "some model servers read 0 as no limit, so strict caps don't allow it; use at least 1",
    );
  }
  return { names, tokens: Math.min(asked ?? Infinity, model.maxOutputTokens, affordable ?? Infinity) };
}

/** The names of the limit in chat completions, as a model's server takes them. */
export function chatLimitNames({ profile }: Pick<ModelTarget, "profile">): readonly string[] {
  const { maxTokensField: field } = profile;
  return field === "both" ? BOTH : [field];
}

const BOTH = ["max_tokens", "max_completion_tokens"] as const;

/** The smallest limit that a body gives under any of its names; null: none. What is no limit in tokens says nothing. */
export function readAskedLimit({ members, value }: Pick<JsonBody, "members" | "value">): number | null {
  let smallest: number | null = null;
  for (const { key } of members) {
    if (findCostField(key)?.kind !== "limit") continue;
    const given = value[key];
    if (typeof given !== "number" || !Number.isSafeInteger(given) || given < 1) continue;
    if (smallest === null || given < smallest) smallest = given;
  }
  return smallest;
}
