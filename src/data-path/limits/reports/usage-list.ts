/** `GET /v1/usage`: what the key's requests used and cost, by day and model, newest day first. */
import * as z from "zod";
import { GatewayError } from "../../../shared/contract/errors.ts";
import { wholeCents } from "../../../shared/money/money.ts";
import { dayAt, isDay, monthAt } from "../../../shared/time/calendar.ts";
import { addDays, type DayRange, daysIn, MAX_DAYS } from "../../../shared/time/day-range.ts";
import { addFigures, NO_USAGE, type UsageFigures } from "../../../shared/usage/usage-figures.ts";
import type { UsageStore } from "../../../shared/stored/reporting.ts";
import type { Admission } from "../admission.ts";
import { invalidParameter } from "./request-list.ts";

const count = () => z.int().min(0);

const usageRow = z.strictObject({
  day: z.string().meta({ description: "UTC day.", examples: ["2026-11-21"] }),
  model: z.string().nullable().describe("Null: a correction without a model."),
  requests: count(),
  input_tokens: count().describe("Input tokens without cached ones."),
  cached_input_tokens: count(),
  output_tokens: count(),
  cost_microcents: z.int(),
  cost_cents: z.int().describe("Whole cents, rounded down."),
});

/** Schema of `GET /v1/usage`. */
export const usageList = z.strictObject({
  object: z.literal("list"),
  currency: z.string().meta({ description: "ISO 4217, of every amount.", examples: ["USD"] }),
  from: z.string(),
  to: z.string(),
  data: z.array(usageRow),
  has_more: z.boolean(),
  next: z.string().nullable().describe("Value of `to` for the next page; null on the last page."),
});
type UsageList = z.output<typeof usageList>;

/** Time after which a page ends: a call has two seconds in all. */
const PAGE_MS = 500;
/** After a report, the organization's next one waits for this multiple of its time: Redis reads rows of all its keys. */
const PAUSES = 9;
/** Organizations remembered before old entries are dropped. */
const MANY = 1_000;

/** Reads reports, one of an organization at a time, for at most a tenth of the time. */
export class UsageLists {
  readonly #store: Pick<UsageStore, "readUsageOfDay">;
  readonly #nowMs: () => number;
  /** Time of an organization's next report. */
  readonly #freeAtMs = new Map<string, number>();

  constructor(store: Pick<UsageStore, "readUsageOfDay">, nowMs: () => number = () => performance.now()) {
    this.#store = store;
    this.#nowMs = nowMs;
  }

  /** @throws GatewayError 400 `invalid_parameter`, 429 `rate_limit_exceeded` */
  async read(admission: Pick<Admission, "caller" | "rate">, query: URLSearchParams): Promise<UsageList> {
    const { organizationId, keyId, currency } = admission.caller;
    const range = readRange(query, admission.rate.timeMs);
    const startMs = this.#nowMs();
    this.#begin(organizationId, startMs);
    try {
      const data: UsageList["data"] = [];
      let next: string | null = range.to;
      while (next !== null && this.#nowMs() - startMs < PAGE_MS) {
        const day: string = next;
        data.push(...sumUp(day, await this.#store.readUsageOfDay(organizationId, day, { keyId })));
        next = day === range.from ? null : addDays(day, -1);
      }
      return { object: "list", currency, ...range, data, has_more: next !== null, next };
    } finally {
      const nowMs = this.#nowMs();
      this.#freeAtMs.set(organizationId, nowMs + PAUSES * (nowMs - startMs));
    }
  }

  #begin(organizationId: string, nowMs: number): void {
    const freeAtMs = this.#freeAtMs.get(organizationId) ?? 0;
    if (freeAtMs > nowMs) {
      const isRunning = freeAtMs === Infinity;
      throw new GatewayError("rate_limit_exceeded", {
        message: "Too many reports of this organization's usage. Try again after the time in `Retry-After`.",
        retryAfterSeconds: isRunning ? 1 : (freeAtMs - nowMs) / 1000,
      });
    }
    if (this.#freeAtMs.size >= MANY) {
      for (const [id, atMs] of this.#freeAtMs) if (atMs <= nowMs) this.#freeAtMs.delete(id);
    }
    this.#freeAtMs.set(organizationId, Infinity);
  }
}

/** Returns the requested days; default: this month until today. */
function readRange(query: URLSearchParams, nowMs: number): DayRange {
  const to = query.get("to") ?? dayAt(nowMs).name;
  if (!isDay(to)) throw invalidParameter("to", "expected a day such as 2026-11-21");
  const from = query.get("from") ?? `${monthAt(nowMs).name}-01`;
  if (!isDay(from) || from > to) {
    throw invalidParameter("from", "expected a day such as 2026-11-01, not after `to`");
  }
  const range = { from, to };
  if (daysIn(range).length > MAX_DAYS) {
    throw invalidParameter("from", `expected at most ${MAX_DAYS} days before \`to\``);
  }
  return range;
}

/** Sums up a day's rows by model, in the order of their names. */
function sumUp(day: string, rows: readonly (UsageFigures & { readonly model: string | null })[]) {
  const sums = new Map<string | null, ReturnType<typeof copyOf>>();
  for (const row of rows) {
    const sum = sums.get(row.model) ?? copyOf(NO_USAGE);
    sums.set(row.model, sum);
    addFigures(sum, row);
  }
  return [...sums].map(([model, sum]) => ({
    day,
    model,
    requests: sum.requests,
    input_tokens: sum.inputTokens,
    cached_input_tokens: sum.cachedInputTokens,
    output_tokens: sum.outputTokens,
    cost_microcents: Number(sum.costMicrocents),
    cost_cents: wholeCents(sum.costMicrocents),
  }));
}

function copyOf(figures: UsageFigures) {
  return { ...figures };
}
