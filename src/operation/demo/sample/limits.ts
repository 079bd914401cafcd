/** Limits of the invented company, chosen by its spend: some are reached, some near, most are far. */
import { dayAt, DAY_MS, monthAt } from "../../../shared/time/calendar.ts";
import { formatWindowStart } from "../../../shared/time/periods.ts";
import { MICROCENTS_PER_CENT } from "../../../shared/money/money.ts";
import type { SampleRequest } from "./requests.ts";

export interface SampleLimits {
  readonly organization: object;
  readonly groups: readonly object[];
  /** By position of a user. */
  readonly users: Readonly<Record<number, object>>;
  /** Temporary increase of the first user's cap. */
  readonly raise: { readonly period: string; readonly add_cents: number };
  readonly keyOf: (position: number) => object;
}

export interface SpendOf {
  readonly requests: readonly SampleRequest[];
  readonly nowMs: number;
  /** Position of a request's group; null: none. */
  readonly groupOf: (request: SampleRequest) => number | null;
  /** Position of a request's user; null: none. */
  readonly userOf: (request: SampleRequest) => number | null;
}

const IN_TOKENS_PER_MINUTE = 200_000;

export function chooseLimits({ requests, nowMs, groupOf, userOf }: SpendOf): SampleLimits {
  const today = dayAt(nowMs).startMs;
  const month = monthAt(nowMs).startMs;
  const week = Date.parse(formatWindowStart("week", dayAt(nowMs).name) ?? "");
  const spent = (isCounted: (request: SampleRequest) => boolean, sinceMs = 0) =>
    sumCents(requests.filter((request) => request.endedAtMs >= sinceMs && isCounted(request)));
  const ofGroup = (position: number) => (request: SampleRequest) => groupOf(request) === position;
  const ofUser = (position: number) => (request: SampleRequest) => userOf(request) === position;
  const ofKey = (position: number) => (request: SampleRequest) => request.key === position;
  const all = () => true;
  const raisedCents = spent(ofUser(0), week);
  const NAMED_KEYS: readonly object[] = [
    caps(spent(ofKey(0)), { cap: 1.5, budget: 1.2 }),
    {
      limits: [
        limit("month", "cap", 1.5 * spent(ofKey(1))),
        limit("month", "budget", 0.8 * spent(ofKey(1), month)),
      ],
    },
    {},
    { limits: [limit("day", "cap", 0.9 * spent(ofKey(3), today))] },
    { ...caps(spent(ofKey(4), month), { cap: 0.95 }), session_cap_cents: 500 },
    { input_tokens_per_minute: IN_TOKENS_PER_MINUTE },
    { disabled: true },
    { expires_at: new Date(today + 3 * DAY_MS).toISOString() },
  ];
  return {
    organization: {
      limits: [limit("month", "cap", 1.3 * spent(all)), limit("month", "budget", 1.1 * spent(all, month))],
    },
    groups: [
      caps(spent(ofGroup(0)), { cap: 1.4, budget: 1.1 }),
      { limits: [limit("week", "cap", 0.98 * spent(ofGroup(1), week))] },
      {},
      { ...caps(spent(ofGroup(3)), { budget: 1.2 }), member_limits: [limit("week", "cap", 5_000)] },
    ],
    users: {
      0: { limits: [limit("week", "cap", 0.98 * raisedCents)] },
      1: caps(spent(ofUser(1)), { cap: 2 }),
    },
    raise: { period: "week", add_cents: roundCents(0.5 * raisedCents) },
    keyOf: (position) =>
      NAMED_KEYS[position] ?? (position % 3 === 0 ? caps(spent(ofKey(position)) + 100, { cap: 2 }) : {}),
  };
}

function sumCents(requests: readonly SampleRequest[]): number {
  const microcents = requests.reduce((sum, { costMicrocents }) => sum + costMicrocents, 0n);
  return Number(microcents / BigInt(MICROCENTS_PER_CENT));
}

/** Creates a month's cap and budget as fractions of its spend. */
function caps(cents: number, { cap, budget }: { readonly cap?: number; readonly budget?: number }): object {
  const limits = [
    ...(cap === undefined ? [] : [limit("month", "cap", cents * cap)]),
    ...(budget === undefined ? [] : [limit("month", "budget", cents * budget)]),
  ];
  return { limits };
}

function limit(period: string, kind: string, cents: number): object {
  return { period, kind, cents: roundCents(cents) };
}

/** Rounds down to amounts as people choose them: 83.14 to 83.00, 831.40 to 830.00. */
function roundCents(cents: number): number {
  const unit = cents < 1_000 ? 10 : cents < 10_000 ? 100 : 1_000;
  return Math.max(1, Math.floor(cents / unit) * unit);
}
