/** Sentence about the outcome of a request. */
import { capScopeOf } from "../../../data-path/limits/errors/spend-cap.ts";
import {
  describeExceeded,
  describeLimit,
  describeReached,
  type NamedLimit,
} from "../../../shared/settings/limit-words.ts";
import {
  formatCount,
  formatCountOf,
  formatDuration,
  formatExactMoney,
  formatMoney,
  formatTime,
} from "../format.ts";
import { isReached, MICROCENTS_PER_CENT } from "../../../shared/money/money.ts";
import {
  type ExplainedRequest,
  explainUpstream,
  failedCheckOf,
  type Figures,
  microcentsOf,
  periodOf,
  reasonOf,
} from "./explained-request.ts";
import { describeReason } from "../../../shared/envoy-reasons/reason.ts";
import { nameTokenType } from "../../../shared/settings/token-limits.ts";
import { rateAt } from "./checks.ts";
import { describeWindow } from "../../../shared/time/periods.ts";
import { capitalize } from "../../../shared/text/capitalize.ts";

export function explainEnd(request: ExplainedRequest, currency: string): string {
  const { status, error_code: code } = request;
  if (status === null) {
    return `The worker died before the request ended. Another worker charged the best known estimate, at least the prompt: ${costOf(request, currency)}.`;
  }
  const failed = failedCheckOf(request);
  if (failed !== null) return explainRefusal(request, failed.figures, currency);
  if (status === 499) {
    return `${explainBrokenOff(request)} Output until then is charged: ${costOf(request, currency)}.`;
  }
  if (code === null && status < 400) return explainAnswer(request, currency);
  const cause = explainUpstream(request);
  const outcome = `the client received ${status}${code === null ? "" : ` ${code}`}`;
  if (status < 400) {
    return `The response broke off${after(request)}${cause === null ? "" : `: ${cause}`}. Output until then is charged: ${costOf(request, currency)}.`;
  }
  const charged =
    request.cost_microcents === 0 ? "" : ` The request is charged ${costOf(request, currency)}.`;
  if (cause === null) return `The request failed in the gateway: ${outcome}.${charged}`;
  return `${capitalize(cause)}; ${outcome}.${charged}`;
}

/** Uses Envoy's words if available, instead of guessing who disconnected. */
function explainBrokenOff(request: ExplainedRequest): string {
  const { upstream } = request;
  const reason = reasonOf(request);
  if (reason?.brokenBy === "client") {
    return `The client left${after(request)}, before the response was complete.`;
  }
  // A silent upstream is recorded separately (exchange/ends/broken-end.ts): here the response had arrived and
  // was not read.
  if (upstream?.status === 200 && upstream.envoy_details?.startsWith("stream_idle_timeout") === true) {
    return `The client stopped reading and was disconnected${after(request)}, before the response was complete.`;
  }
  const cause = reason === null ? "the cause is unknown" : describeReason(reason, upstream?.name ?? null);
  return `The request ended${after(request)}, before its response was complete: ${cause}.`;
}

function explainAnswer(request: ExplainedRequest, currency: string): string {
  const tokens = [
    `${formatCount(request.input_tokens)} input`,
    ...(request.cached_input_tokens === 0 ? [] : [`${formatCount(request.cached_input_tokens)} cached`]),
  ];
  const duration = request.duration_ms === null ? "" : ` in ${formatDuration(request.duration_ms)}`;
  const counted = request.estimated
    ? " The upstream reported no usable token counts, so the gateway estimated them."
    : "";
  return `Completed${duration}: ${tokens.join(", ")} and ${formatCount(request.output_tokens)} output tokens cost ${costOf(request, currency)}.${counted}`;
}

const EXPLAINERS: Readonly<Record<string, (figures: Figures) => string>> = {
  rate_limit_exceeded: (figures) =>
    `rate limit of ${formatCountOf(rateAt(figures), "request")} per minute, ${formatCount(Number(figures["burst"]))} at once, for this API key reached. A retry could pass ${formatCount(Number(figures["retry_after_seconds"]))} s later.`,
  token_rate_limit_exceeded: ({
    scope,
    limit_type: type,
    tokens_per_minute: limit,
    retry_after_seconds: wait,
  }) =>
    `rate limit of ${formatCount(Number(limit))} ${nameTokenType(String(type), Number(limit))} per minute for this API key${scope === "key" ? "" : `'s ${scope}`} reached. A retry could pass ${formatCount(Number(wait))} s later.`,
  key_disabled: () => "this API key is disabled.",
  key_expired: ({ expires_at: at }) =>
    typeof at === "string" ? `this API key expired at ${formatTime(at)}.` : "this API key has expired.",
  user_disabled: () => "this API key's user is disabled.",
  organization_suspended: () => "the organization is suspended. Only the operator can resume it.",
};

function explainRefusal(request: ExplainedRequest, figures: Figures, currency: string): string {
  const scope = capScopeOf(request.error_code);
  if (scope !== null) {
    return `Blocked. ${explainCap(scope, figures, { day: request.created_at.slice(0, 10), currency })}`;
  }
  const explainer = EXPLAINERS[request.error_code ?? ""];
  const { message, concurrent_requests: count } = figures;
  if (explainer !== undefined) return `Rejected: ${explainer(figures)}`;
  if (typeof message === "string") return `Rejected: ${message}`;
  if (typeof count === "number") {
    return `Rejected: this API key had ${formatCountOf(count, "request")} in flight, its limit.`;
  }
  return `Rejected: ${request.error_code ?? `status ${request.status}`}.`;
}

/** Formats as the 402 does, with the figures of the check. @param call With the day of the admission, "2026-11-21". */
function explainCap(
  scope: NamedLimit["scope"],
  figures: Figures,
  { day, currency }: { readonly day: string; readonly currency: string },
): string {
  const limit = { scope, name: null, period: periodOf(figures), kind: "cap" } as const;
  const spent = microcentsOf(figures, "spent") ?? 0;
  const cap = microcentsOf(figures, "hard_cap");
  // Amounts are hidden from members and holders of API keys.
  if (cap === null) return `${describeLimit(limit, null)} reached ${describeWindow(limit.period, day)}.`;
  const spend = { amount: formatMoney(cap, currency), spent: formatMoney(spent, currency), day };
  const held = microcentsOf(figures, "held");
  if (held === null || isReached(cap / MICROCENTS_PER_CENT, BigInt(spent))) {
    return describeReached(limit, spend);
  }
  return describeExceeded(limit, { ...spend, reserved: formatMoney(held, currency), worst: null });
}

function after({ duration_ms: milliseconds }: ExplainedRequest): string {
  return milliseconds === null ? "" : ` after ${formatDuration(milliseconds)}`;
}

function costOf(request: ExplainedRequest, currency: string): string {
  return formatExactMoney(request.cost_microcents, currency);
}
