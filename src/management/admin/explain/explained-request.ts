/** What an explanation is made of and what it is, in the shapes that the management API answers with. */
import type * as z from "zod";
import { LIMIT_PERIODS, type LimitPeriod } from "../../../shared/settings/limits.ts";
import type { explainedRequest } from "../schemas/requests.ts";
import type { TOKEN_NAMES, TokenKind } from "../../../shared/usage/token-usage.ts";
import { type Reason, sayReason } from "../../../shared/envoy-reasons/reason.ts";
import { explainCause } from "../../../shared/envoy-reasons/upstream-cause.ts";
import type { UpstreamEnd } from "../../../data-path/store/types/reporting.ts";

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

/** The figures of the check that refused it, or null. */
export function failedCheckOf(
  request: Pick<ExplainedRequest, "checks">,
): ExplainedRequest["checks"][number] | null {
  return request.checks.find((check) => !check.passed) ?? null;
}

/** The period of the cap that a check compares; checks of a month's cap do not name it. */
export function periodOf({ period }: Figures): LimitPeriod {
  return LIMIT_PERIODS.find((known) => known === period) ?? "month";
}

/** Microcents of an amount that figures have in either unit; null for none. */
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
  return { name, status, cause: sayReason(reason, name), envoy_details: cause };
}

/** What Envoy said of a request's upstream; null: nothing, or nothing that is known. */
export function reasonOf({ upstream }: Pick<ExplainedRequest, "upstream">): Reason | null {
  if (upstream === null || upstream.envoy_details === null) return null;
  return explainCause(upstream.status, upstream.envoy_details);
}

/** What only the operator can end, by the code that the client is told. */
const OPERATORS_CAUSES: Readonly<Record<string, string>> = {
  upstream_model_not_found: " (it knows no such model, or no such path)",
  upstream_authentication_failed: " (it refuses the gateway's account or credential there)",
};

/** "the upstream local answered 503: no replica"; null: there is nothing to say of it. */
export function explainUpstream({
  upstream,
  error_code: code,
}: Pick<ExplainedRequest, "upstream" | "error_code">): string | null {
  if (upstream === null) return null;
  const { name, status, cause, envoy_details: details } = upstream;
  if (details !== null) return cause;
  const subject = `the upstream ${name}`;
  const said = cause === null ? "" : `: ${cause.replace(/\.$/, "")}`;
  if (status !== null) return `${subject} answered ${status}${OPERATORS_CAUSES[code ?? ""] ?? ""}${said}`;
  return said === "" ? `${subject} did not answer` : `${subject} failed${said}`;
}
