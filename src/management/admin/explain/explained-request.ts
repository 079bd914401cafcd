/** Input and result of an explanation, in the form of the management API. */
import type * as z from "zod";
import { LIMIT_PERIODS, type LimitPeriod } from "../../../shared/settings/limits.ts";
import type { explainedRequest } from "../schemas/requests.ts";
import type { TOKEN_NAMES, TokenKind } from "../../../shared/usage/token-usage.ts";
import { type Reason, describeReason } from "../../../shared/envoy-reasons/reason.ts";
import { explainCause } from "../../../shared/envoy-reasons/upstream-cause.ts";
import type { UpstreamEnd } from "../../../shared/stored/reporting.ts";

type Shown = z.output<typeof explainedRequest>;

export type Explanation = Shown["explanation"];

export type ExplainedRequest = Readonly<
  Pick<
    Shown,
    | (typeof TOKEN_NAMES)[TokenKind]
    | "organization_id"
    | "key_id"
    | "key_deleted"
    | "user_id"
    | "user_deleted"
    | "group_id"
    | "group_deleted"
    | "created_at"
    | "status"
    | "error_code"
    | "estimated"
    | "cost_microcents"
    | "duration_ms"
    | "upstream"
    | "checks"
  >
>;

export type Figures = ExplainedRequest["checks"][number]["figures"];

/** Returns the figures of the check that rejected it, or null. */
export function failedCheckOf(
  request: Pick<ExplainedRequest, "checks">,
): ExplainedRequest["checks"][number] | null {
  return request.checks.find((check) => !check.passed) ?? null;
}

/** Returns the period of a cap's check; checks of monthly caps do not name it. */
export function periodOf({ period }: Figures): LimitPeriod {
  return LIMIT_PERIODS.find((known) => known === period) ?? "month";
}

/** Returns microcents of an amount in either unit; null if missing. */
export function microcentsOf(figures: Figures, name: string): number | null {
  const microcents = figures[`${name}_microcents`];
  if (microcents !== undefined && microcents !== null) return Number(microcents);
  const cents = figures[`${name}_cents`];
  return typeof cents === "number" ? cents * 1_000_000 : null;
}

export function describeUpstream({
  name,
  status,
  cause,
}: UpstreamEnd): NonNullable<ExplainedRequest["upstream"]> {
  const reason = cause === null ? null : explainCause(status, cause);
  if (reason === null) return { name, status, cause, envoy_details: null };
  return { name, status, cause: describeReason(reason, name), envoy_details: cause };
}

/** Returns Envoy's reason for the upstream's failure; null: none or unknown. */
export function reasonOf({ upstream }: Pick<ExplainedRequest, "upstream">): Reason | null {
  if (upstream === null || upstream.envoy_details === null) return null;
  return explainCause(upstream.status, upstream.envoy_details);
}

/** Causes that only the operator can remove, by the code sent to the client. */
const OPERATORS_CAUSES: Readonly<Record<string, string>> = {
  upstream_model_not_found: " (unknown model or path)",
  upstream_authentication_failed: " (the gateway's account or credential was rejected)",
};

/** Formats "the upstream local answered 503: no replica"; null if there is nothing to report. */
export function explainUpstream({
  upstream,
  error_code: code,
}: Pick<ExplainedRequest, "upstream" | "error_code">): string | null {
  if (upstream === null) return null;
  const { name, status, cause, envoy_details: details } = upstream;
  if (details !== null) return cause;
  const subject = `the upstream ${name}`;
  const causeText = cause === null ? "" : `: ${cause.replace(/\.$/, "")}`;
  if (status !== null) {
    return `${subject} returned ${status}${OPERATORS_CAUSES[code ?? ""] ?? ""}${causeText}`;
  }
  return causeText === "" ? `${subject} didn't respond` : `${subject} failed${causeText}`;
}
