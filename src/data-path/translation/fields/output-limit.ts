/** The limit of output tokens that is sent upstream. */
import type { ModelTarget } from "../client-protocol.ts";
import { unsupportedField } from "../json/field-error.ts";
import type { JsonBody } from "../json/parse-body.ts";
import { findCostField } from "../../../shared/contract/cost-fields.ts";

export interface OutputLimit {
  /** Field names for the upstream. */
  readonly names: readonly string[];
  /** Null: the client set no limit, and none is needed. */
  readonly tokens: number | null;
}

export interface LimitTerms {
  readonly model: Pick<ModelTarget, "maxOutputTokens">;
  readonly isStrict: boolean;
  /** Tokens that the caps leave; null: no bound by caps. */
  readonly affordable: number | null;
}

/**
 * Returns the smallest of the client's limit, the model's and the tokens that the caps leave. Strict caps always yield
 * a limit.
 * @param requested The client's limit, or null.
 * @throws GatewayError 400 under strict caps for 0, which Ollama reads as unlimited.
 */
export function limitOutput(
  names: readonly string[],
  requested: number | null,
  { model, isStrict, affordable }: LimitTerms,
): OutputLimit {
  if (requested === null && affordable === null) {
    return { names, tokens: isStrict ? model.maxOutputTokens : null };
  }
  if (requested === 0 && isStrict) {
    throw unsupportedField(
      names[0] ?? "max_tokens",
      "some model servers read 0 as no limit, so strict caps don't allow it; use at least 1",
    );
  }
  return { names, tokens: Math.min(requested ?? Infinity, model.maxOutputTokens, affordable ?? Infinity) };
}

/** Names of the limit in chat completions that the model server accepts. */
export function chatLimitNames({ profile }: Pick<ModelTarget, "profile">): readonly string[] {
  const { maxTokensField: field } = profile;
  return field === "both" ? BOTH : [field];
}

const BOTH = ["max_tokens", "max_completion_tokens"] as const;

/**
 * Returns the smallest limit of a body under any of its names; null if there is none. Ignores values that are not
 * positive integers.
 */
export function readOutputLimit({ members, value }: Pick<JsonBody, "members" | "value">): number | null {
  let smallest: number | null = null;
  for (const { key } of members) {
    if (findCostField(key)?.kind !== "limit") continue;
    const given = value[key];
    if (typeof given !== "number" || !Number.isSafeInteger(given) || given < 1) continue;
    if (smallest === null || given < smallest) smallest = given;
  }
  return smallest;
}
