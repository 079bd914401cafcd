/** Requests of the invented company: more by day than at night, fewer at weekends, a little more every week. */
import type { Model } from "../../../data-path/catalog/catalog.ts";
import { type PriceCheck, describePrice } from "../../../data-path/pricing/charged-price.ts";
import { chooseRates, priceInForce } from "../../../data-path/pricing/price.ts";
import { costMicrocents, promptTokensOf } from "../../../data-path/pricing/rates.ts";
import { NO_TOOLS } from "../../../data-path/pricing/tool-charges.ts";
import type { RequestTrace } from "../../../shared/stored/reporting.ts";
import { DAY_MS } from "../../../shared/time/calendar.ts";
import { NO_TOKENS, type TokenUsage } from "../../../shared/usage/token-usage.ts";
import type { SampleKey } from "./company.ts";
import { drawAround, type Random } from "./random.ts";

/** A month and the same weekdays before, for comparisons. */
const DAYS = 35;
/** All fit into the list of recent requests. */
const REQUESTS = 7_000;
/** Requests end at least this long before now. */
const NEWEST_MS = 60_000;
const WEEKEND = 0.3;
const GROWTH_PER_DAY = 0.012;
/** Tokens per second of an answer. */
const SPEED = 70;

export interface SampleRequest {
  /** Position of its API key. */
  readonly key: number;
  readonly model: Model;
  readonly endedAtMs: number;
  readonly route: string;
  readonly status: number;
  readonly errorCode: string | null;
  readonly tokens: TokenUsage;
  readonly costMicrocents: bigint;
  readonly tags: string;
  readonly session: string | null;
  readonly checks: readonly PriceCheck[];
  readonly trace: RequestTrace;
}

export interface RequestsOf {
  readonly keys: readonly SampleKey[];
  readonly models: readonly [Model, ...Model[]];
  readonly currency: string;
  readonly nowMs: number;
  readonly random: Random;
}

/** Lists requests by the time of their end; each ends in a millisecond of its own. */
export function listRequests(of: RequestsOf): readonly SampleRequest[] {
  const times = listTimes(of.nowMs, of.random);
  return times.map((endedAtMs) => drawRequest(of, endedAtMs, { key: drawKey(of) }));
}

interface Drawn {
  /** Position of its API key. */
  readonly key: number;
  /** Typical prompt in tokens; omitted: what such a key sends. */
  readonly prompt?: number;
}

/** Draws a request that ends then. */
export function drawRequest(of: RequestsOf, endedAtMs: number, { key, prompt }: Drawn): SampleRequest {
  const { random, models, currency } = of;
  const { feature, hasSessions } = of.keys[key] as SampleKey;
  const model = models[random() < 0.7 ? key % models.length : Math.floor(random() * models.length)] as Model;
  const failure = drawFailure(random);
  const tokens = failure === null ? drawTokens(random, hasSessions, prompt) : NO_TOKENS;
  const price = priceInForce(model.prices.get(currency) ?? raiseNoPrice(model), endedAtMs);
  const charged = chooseRates(price, null, promptTokensOf(tokens));
  const team = ["web", "apps", "data"][key % 3];
  return {
    key,
    model,
    endedAtMs,
    route: hasSessions && random() < 0.6 ? "POST /v1/messages" : "POST /v1/chat/completions",
    status: failure?.status ?? 200,
    errorCode: failure?.errorCode ?? null,
    tokens,
    costMicrocents: failure === null ? costMicrocents(tokens, charged.rates) : 0n,
    tags: feature === null ? "" : `feature=${feature},team=${team}`,
    session: hasSessions ? `task-${Math.floor(endedAtMs / (DAY_MS / 8)) % 1_000}-${key}` : null,
    checks: [describePrice({ charged, currency, tools: NO_TOOLS })],
    trace: drawTrace(random, model, { outputTokens: tokens.outputTokens, failure }),
  };
}

function raiseNoPrice({ id }: Model): never {
  throw new RangeError(`The model ${id} has no price in this currency.`);
}

/** Draws the position of a key: a few have most requests, and every key has some. */
function drawKey({ keys, random }: RequestsOf): number {
  const isBusy = random() < 0.75;
  return Math.floor(keys.length * random() ** (isBusy ? 5 : 1.3));
}

function listTimes(nowMs: number, random: Random): readonly number[] {
  const today = Math.floor(nowMs / DAY_MS);
  const days = Array.from({ length: DAYS }, (_, index) => today - DAYS + 1 + index);
  const weights = days.map((day, index) => {
    // 1970-01-01 was a Thursday.
    const weekday = (day + 4) % 7;
    return (weekday === 0 || weekday === 6 ? WEEKEND : 1) * (1 + index * GROWTH_PER_DAY);
  });
  const sum = weights.reduce((total, weight) => total + weight, 0);
  const times = days.flatMap((day, index) => {
    const count = Math.round((REQUESTS * (weights[index] ?? 0)) / sum);
    return Array.from({ length: count }, () => day * DAY_MS + drawTimeOfDay(random));
  });
  return [...new Set(times)].filter((time) => time < nowMs - NEWEST_MS).toSorted((one, other) => one - other);
}

/** Most are between 6 and 20 o'clock. */
function drawTimeOfDay(random: Random): number {
  const isAtWork = random() < 0.75;
  const hour = isAtWork ? 6 + 7 * (random() + random()) : 24 * random();
  return Math.floor((hour * DAY_MS) / 24);
}

interface Failure {
  readonly status: number;
  readonly errorCode: string;
  readonly cause: string;
}

function drawFailure(random: Random): Failure | null {
  const drawn = random();
  if (drawn < 0.006) return { status: 502, errorCode: "upstream_error", cause: "CUDA out of memory" };
  if (drawn > 0.01) return null;
  const cause = "upstream_reset_before_response_started{remote_connection_failure}";
  return { status: 503, errorCode: "model_unreachable", cause };
}

/** Agents send their whole conversation each time, most of which is cached. */
function drawTokens(random: Random, isAgent: boolean, usual = isAgent ? 90_000 : 12_000): TokenUsage {
  const prompt = drawAround(random, usual);
  const cachedInputTokens = Math.floor(prompt * (isAgent ? 0.8 : 0.3) * random());
  return {
    ...NO_TOKENS,
    inputTokens: prompt - cachedInputTokens,
    cachedInputTokens,
    outputTokens: drawAround(random, Math.ceil(usual / (isAgent ? 60 : 17))),
  };
}

interface Ended {
  readonly outputTokens: number;
  readonly failure: Failure | null;
}

function drawTrace(random: Random, model: Model, { outputTokens, failure }: Ended): RequestTrace {
  const isReached = failure?.status !== 503;
  const upstreamMs = isReached ? drawAround(random, 180) : null;
  const firstTokenMs = failure === null && upstreamMs !== null ? upstreamMs + drawAround(random, 60) : null;
  const endMs = (firstTokenMs ?? upstreamMs ?? 20) + Math.round((outputTokens * 1_000) / SPEED);
  const status = failure === null ? 200 : isReached ? 500 : null;
  return {
    timeline: { bodyMs: 2, routedMs: 4, upstreamMs, firstTokenMs, endMs },
    upstream: { name: model.upstream, status, cause: failure?.cause ?? null },
  };
}
