/** Texts for every check of a request, with amounts. */
import { CAP_CODES } from "../../../shared/contract/errors.ts";
import { nameLimit } from "../../../shared/settings/limit-words.ts";
import { nameTokenType } from "../../../shared/settings/token-limits.ts";
import { SHRUNK_CHECK } from "../../../data-path/limits/reports/request-status.ts";
import { formatPrice } from "../../../shared/money/money.ts";
import { isBoundByHold } from "../../../data-path/pricing/charged-price.ts";
import { formatCount, formatMoney, formatTime, spellOut } from "../format.ts";
import {
  type ExplainedRequest,
  type Explanation,
  type Figures,
  microcentsOf,
  periodOf,
} from "./explained-request.ts";

type Explainer = (figures: Figures, currency: string) => string;

const EXPLAINERS: Readonly<Record<string, Explainer>> = {
  key_enabled: () => "",
  key_not_expired: ({ expires_at: at }) =>
    typeof at === "string" ? `expiry ${formatTime(at)}` : "no expiry",
  organization_active: () => "",
  rate_limit: explainRate,
  token_rate_limit: explainTokens,
  concurrency: explainConcurrency,
  ...Object.fromEntries(Object.keys(CAP_CODES).map((scope) => [`${scope}_hard_cap`, explainCap])),
  [SHRUNK_CHECK]: explainShrunk,
  price: explainPrices,
};

export function explainChecks(
  { checks }: Pick<ExplainedRequest, "checks">,
  currency: string,
): Explanation["checks"] {
  return checks.map(({ name, passed, figures }) => {
    const { message } = figures;
    const text =
      typeof message === "string" ? message : (EXPLAINERS[name]?.(figures, currency) ?? listFigures(figures));
    return { name: spellOut(name), passed, text };
  });
}

export function rateAt(figures: Figures): number {
  return Number(figures["requests_per_minute"]);
}

function explainRate(figures: Figures): string {
  const rate = `${formatCount(rateAt(figures))} per minute, ${countAt(figures, "burst")} at once`;
  const wait = Number(figures["retry_after_seconds"]);
  if (wait > 0) return `${rate}; none left, retry after ${formatCount(wait)} s`;
  return `${rate}; ${countAt(figures, "remaining")} left after this one`;
}

function explainTokens(figures: Figures): string {
  const { scope, limit_type: type } = figures;
  const counted = nameTokenType(String(type), Number(figures["tokens_per_minute"]));
  const limit = `${countAt(figures, "tokens_per_minute")} ${counted} per minute for the ${scope}`;
  return `${limit}; none left, retry after ${countAt(figures, "retry_after_seconds")} s`;
}

function explainConcurrency(figures: Figures): string {
  const most = figures["max_concurrent_requests"];
  if (typeof most !== "number") return "no limit of concurrent requests";
  return `${countAt(figures, "concurrent_requests")} of ${formatCount(most)} in flight`;
}

function explainCap(figures: Figures, currency: string): string {
  const spentMicrocents = microcentsOf(figures, "spent");
  const cap = microcentsOf(figures, "hard_cap");
  const name = nameLimit({ period: periodOf(figures), kind: "cap" });
  if (spentMicrocents === null) return `${name}, whose amounts are hidden`;
  const spent = formatMoney(spentMicrocents, currency);
  return cap === null
    ? `${spent} spent, no ${name}`
    : `${spent} spent of the ${name} of ${formatMoney(cap, currency)}`;
}

/** Formats "shortened from 32,000 to 27,342 tokens, which is all that the group's weekly cap could pay for". */
function explainShrunk(figures: Figures): string {
  const { scope, period } = figures;
  const lengths = `from ${countAt(figures, "requested_max_tokens")} to ${countAt(figures, "max_tokens")} tokens`;
  const cap = period === "session" ? "session cap" : nameLimit({ period: periodOf(figures), kind: "cap" });
  return `shortened ${lengths}, which is all that the ${String(scope)}'s ${cap} could pay for`;
}

const PRICE = /^(.+)_microcents_per_million$/;
const TOOL_PRICE = /^(.+)_microcents_per_thousand$/;

/** Formats "per million tokens: input 3.00, cached input 0.30, output 15.00 USD". */
function explainPrices(figures: Figures, currency: string): string {
  const prices = Object.entries(figures).flatMap(([name, price]) => {
    const kind = PRICE.exec(name)?.[1];
    return kind === undefined || price === null ? [] : [`${spellOut(kind)} ${formatPrice(BigInt(price))}`];
  });
  const tools = Object.entries(figures).flatMap(([name, price]) => {
    const tool = TOOL_PRICE.exec(name)?.[1];
    return tool === undefined ? [] : [`${spellOut(tool)} ${formatPrice(BigInt(price ?? 0))} ${currency}`];
  });
  const { request_microcents: fee, service_tier: tier, above_prompt_tokens: size } = figures;
  return [
    `per million tokens: ${prices.join(", ")} ${currency}`,
    ...(fee === undefined ? [] : [`${formatPrice(BigInt(fee ?? 0))} ${currency} a request`]),
    ...(tools.length === 0 ? [] : [`per thousand uses: ${tools.join(", ")}`]),
    ...(isBoundByHold(figures) ? ["an estimate, charged up to the request's reservation"] : []),
    ...(typeof tier === "string" ? [`service tier ${tier}`] : []),
    ...(typeof size === "number" ? [`for prompts above ${formatCount(size)} tokens`] : []),
  ].join("; ");
}

/** Text of checks without a text of their own. */
function listFigures(figures: Figures): string {
  return Object.entries(figures)
    .map(([name, value]) => `${spellOut(name)} ${value ?? "none"}`)
    .join(", ");
}

function countAt(figures: Figures, name: string): string {
  return formatCount(Number(figures[name] ?? 0));
}
