/** Spend and usage of an organization in a month, and corrections by a person. */
import { auditArguments } from "../management/audit.ts";
import { timeMs } from "../redis/clock.ts";
import { countFiredAlerts, countSpendFall, type StoreContext } from "../context.ts";
import {
  correctionKey,
  keyRecordKey,
  organizationKey,
  spendKey,
  tagCombinationsKey,
  usageKey,
} from "../redis/keys.ts";
import {
  type CalendarPeriod,
  dayAt,
  daysOf,
  expiryOf,
  monthAt,
  parseMonth,
} from "../../../shared/time/calendar.ts";
import { amountAt, integerAt, parseArray, textAt, unknownOutcome } from "../redis/parse-reply.ts";
import type {
  CorrectionDetails,
  CorrectResult,
  TagCombinations,
  UsageRow,
  UsageStore,
} from "../../../shared/stored/reporting.ts";
import { OTHER_TAGS } from "../../../shared/usage/tags.ts";
import { readRowsOfDay } from "./usage-rows.ts";
import { deleteSums, readStoredSums, readSumsOfDay } from "./usage-sums.ts";
import { readClosedUsage } from "./closed-usage.ts";
import { readLimits } from "./read-limits.ts";
import { windowName } from "./windows.ts";
import { raiseUsage } from "./raise-usage.ts";
import { storeOf } from "../run.ts";
import { AT, OUTCOME } from "../redis/reply-layouts.ts";

const KEY_PREFIX = "key:";
/** Amounts that one command reads: a tenth of a millisecond of Redis. */
const SPEND_PIECE = 500;

export const createUsageStore = storeOf<UsageStore>({
  async readSpend(context, organizationId, monthName, keyIds = null) {
    const { month, now } = await resolveMonth(context, monthName);
    const fields = await readSpendFields(context, spendKey(organizationId, month.name), keyIds);
    const keys = Object.entries(fields).filter(([field]) => field.startsWith(KEY_PREFIX));
    return {
      month: month.name,
      timeMs: now,
      organizationMicrocents: BigInt(fields["organization"] ?? "0"),
      organizationHeldMicrocents: BigInt(fields["held:organization"] ?? "0"),
      keyMicrocents: new Map(keys.map(([field, amount]) => [field.slice(KEY_PREFIX.length), BigInt(amount)])),
    };
  },

  async readSpendOf(context, organizationId, period, subjects) {
    const window = windowName(period, dayAt(await timeMs(context)).name);
    const spent = new Map<string, bigint>();
    for (let start = 0; start < subjects.length; start += SPEND_PIECE) {
      const names = subjects.slice(start, start + SPEND_PIECE);
      const values = await context.client.hmget(spendKey(organizationId, window), ...names);
      for (const [place, name] of names.entries()) {
        const value = values[place];
        if (value !== null && value !== undefined) spent.set(name, BigInt(value));
      }
    }
    return spent;
  },

  readLimits,

  async readUsage(context, organizationId, monthName) {
    const { month } = await resolveMonth(context, monthName);
    const rows: UsageRow[] = [];
    for (const day of daysOf(month)) {
      for (const row of await readRowsOfDay(context.client, organizationId, day, {})) rows.push(row);
    }
    return { month: month.name, rows, ...(await countTagCombinations(context, organizationId, month.name)) };
  },

  readUsageOfDay: ({ client }, organizationId, day, of = {}) =>
    readRowsOfDay(client, organizationId, day, of),

  readSumsOfDay: (context, organizationId, day, of = {}) => readSumsOfDay(context, organizationId, day, of),

  readStoredSums: (context, organizationId, day) => readStoredSums(context, organizationId, day),

  deleteSums,

  countTagCombinations,

  /** @throws RangeError if the amount is 0 or beyond 2^53. */
  async correct(context, input, audit) {
    const { organizationId, keyId, owners = "", correctionId, amountMicrocents } = input;
    const size = amountMicrocents < 0n ? -amountMicrocents : amountMicrocents;
    if (size === 0n || size > BigInt(Number.MAX_SAFE_INTEGER)) {
      throw new RangeError(`${amountMicrocents} microcents are no amount for a correction`);
    }
    const run = async (day: CalendarPeriod): Promise<readonly unknown[]> => {
      const month = day.name.slice(0, 7);
      const reply = await context.client.igwCorrect({
        organization: organizationKey(organizationId),
        keyRecord: keyId === null ? organizationKey(organizationId) : keyRecordKey(organizationId, keyId),
        spend: spendKey(organizationId, month),
        usage: usageKey(organizationId, day.name),
        marker: correctionKey(organizationId, correctionId),
        ...auditArguments(organizationId, audit?.(month)),
        dayStartMs: String(day.startMs),
        dayEndMs: String(day.endMs),
        month,
        keyId: keyId ?? "",
        amount: String(amountMicrocents),
        expiresAtMs: String(expiryOf(month, context.usageMonths)),
        stored: JSON.stringify({ month, details: input.details ?? null }),
        owners,
      });
      return parseArray(reply);
    };
    let reply = await run(dayAt(await timeMs(context)));
    // Midnight passed between the two commands; nothing was changed.
    if (reply[OUTCOME] === "day_changed") reply = await run(dayAt(integerAt(reply, AT.dayChanged.timeMs)));
    const result = parseCorrection(reply, keyId);
    if (result.outcome === "applied") {
      countFiredAlerts(context, reply, AT.corrected.alertsFired);
      if (amountMicrocents < 0n) countSpendFall(context, "correction");
    }
    return result;
  },

  async findCorrection({ client }, organizationId, correctionId) {
    const stored = await client.get(correctionKey(organizationId, correctionId));
    return stored === null ? null : parseCorrectionText(stored).details;
  },

  readClosedUsage,

  raiseUsage,
});

function parseCorrection(reply: readonly unknown[], keyId: string | null): CorrectResult {
  const at = AT.corrected;
  const outcome = textAt(reply, OUTCOME);
  if (outcome === "not_found") return { outcome };
  if (outcome !== "applied" && outcome !== "repeated") {
    throw unknownOutcome(outcome);
  }
  return {
    outcome,
    ...parseCorrectionText(textAt(reply, at.stored)),
    organizationMicrocents: amountAt(reply, at.organizationSpent),
    keyMicrocents: keyId === null ? null : amountAt(reply, at.keySpent),
  };
}

function parseCorrectionText(stored: string): {
  readonly month: string;
  readonly details: CorrectionDetails | null;
} {
  return JSON.parse(stored) as { month: string; details: CorrectionDetails | null };
}

/** Reads spend of the given keys only, because an organization can have thousands. */
async function readSpendFields(
  { client }: StoreContext,
  spend: string,
  keyIds: readonly string[] | null,
): Promise<Readonly<Record<string, string>>> {
  if (keyIds === null) return client.hgetall(spend);
  const names = ["organization", "held:organization", ...keyIds.map((id) => KEY_PREFIX + id)];
  const values = await client.hmget(spend, ...names);
  return Object.fromEntries(
    names.flatMap((name, position) => {
      const value = values[position];
      return value === null || value === undefined ? [] : [[name, value]];
    }),
  );
}

async function resolveMonth(
  context: StoreContext,
  name: string | null,
): Promise<{ month: CalendarPeriod; now: number }> {
  const now = await timeMs(context);
  const month = name === null ? monthAt(now) : parseMonth(name);
  if (month === null) throw new RangeError(`"${name}" is not a month like "2026-11"`);
  return { month, now };
}

async function countTagCombinations(
  { client }: StoreContext,
  organizationId: string,
  month: string,
): Promise<TagCombinations> {
  const key = tagCombinationsKey(organizationId, month);
  const [all, otherRows] = await Promise.all([client.hlen(key), client.hexists(key, OTHER_TAGS)]);
  return { tagCombinations: all - otherRows, hasOtherTags: otherRows === 1 };
}
