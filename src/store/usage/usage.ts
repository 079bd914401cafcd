/** What an organization spent and used in a month, and corrections of it by a person. */
import { formatAuditEntry } from "../management/audit.ts";
import { timeMs } from "../redis/clock.ts";
import { countFiredAlerts, countSpendFall, type StoreContext } from "../context.ts";
import {
  auditKey,
  correctionKey,
  keyRecordKey,
  organizationKey,
  spendKey,
  tagCombinationsKey,
  usageKey,
} from "../redis/keys.ts";
import { type CalendarPeriod, dayAt, daysOf, expiryOf, monthAt, parseMonth } from "../../time/calendar.ts";
import { amountAt, integerAt, parseArray, textAt, unknownOutcome } from "../redis/parse-reply.ts";
import type { CorrectionDetails, CorrectResult, UsageRow, UsageStore } from "../types/reporting.ts";
import { USAGE_FIGURES } from "../../usage/figures.ts";
import { OTHER_TAGS } from "../../usage/tags.ts";
import { FIGURES, NO_USAGE, type UsageFigure } from "../../usage/usage-figures.ts";
import { setFigure } from "./row-figures.ts";
import { readClosedUsage } from "./closed-usage.ts";
import { readLimits } from "./read-limits.ts";
import { raiseUsage } from "./raise-usage.ts";
import { storeOf } from "../run.ts";
import { AT, OUTCOME } from "../redis/reply-layouts.ts";

/** Field in Redis → figure of a row. */
const FIGURE_OF = new Map<string, UsageFigure>(
  FIGURES.map((figure) => [USAGE_FIGURES[figure].field, figure]),
);
const KEY_PREFIX = "key:";

type MutableRow = { -readonly [Name in keyof UsageRow]: UsageRow[Name] };

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

  readLimits,

  async readUsage(context, organizationId, monthName) {
    const { month } = await resolveMonth(context, monthName);
    const days = await Promise.all(
      daysOf(month).map(
        async (day) => [day, await context.client.hgetall(usageKey(organizationId, day))] as const,
      ),
    );
    // Behind the rows: a combination is there before the first figure of its row.
    const combinations = await context.client.hgetall(tagCombinationsKey(organizationId, month.name));
    const hasOtherTags = combinations[OTHER_TAGS] !== undefined;
    return {
      month: month.name,
      rows: days.flatMap(([day, fields]) => parseDay(day, fields, combinations)),
      tagCombinations: Object.keys(combinations).length - (hasOtherTags ? 1 : 0),
      hasOtherTags,
    };
  },

  async readUsageOfDay({ client }, organizationId, day) {
    const fields = await client.hgetall(usageKey(organizationId, day));
    return parseDay(day, fields, await client.hgetall(tagCombinationsKey(organizationId, day.slice(0, 7))));
  },

  /** @throws RangeError when the amount is 0 or beyond 2^53. */
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
        audit: auditKey(organizationId),
        dayStartMs: String(day.startMs),
        dayEndMs: String(day.endMs),
        month,
        keyId: keyId ?? "",
        amount: String(amountMicrocents),
        expiresAtMs: String(expiryOf(month, context.usageMonths)),
        auditEntry: formatAuditEntry(audit?.(month)),
        kept: JSON.stringify({ month, details: input.details ?? null }),
        owners,
      });
      return parseArray(reply);
    };
    let reply = await run(dayAt(await timeMs(context)));
    // Midnight fell between the two commands; nothing was changed.
    if (reply[OUTCOME] === "day_changed") reply = await run(dayAt(integerAt(reply, AT.dayChanged.timeMs)));
    const result = parseCorrection(reply, keyId);
    if (result.outcome === "applied") {
      countFiredAlerts(context, reply, AT.corrected.alertsFired);
      if (amountMicrocents < 0n) countSpendFall(context, "correction");
    }
    return result;
  },

  async findCorrection({ client }, organizationId, correctionId) {
    const kept = await client.get(correctionKey(organizationId, correctionId));
    return kept === null ? null : parseKept(kept).details;
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
    ...parseKept(textAt(reply, at.kept)),
    organizationMicrocents: amountAt(reply, at.organizationSpent),
    keyMicrocents: keyId === null ? null : amountAt(reply, at.keySpent),
  };
}

/** A correction of before its details were kept has its month there, which is no JSON. */
function parseKept(kept: string): { readonly month: string; readonly details: CorrectionDetails | null } {
  if (!kept.startsWith("{")) return { month: kept, details: null };
  return JSON.parse(kept) as { month: string; details: CorrectionDetails | null };
}

/** An organization can have thousands of keys: who asks for some of them reads no others. */
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

type Fields = Readonly<Record<string, string>>;

function parseDay(day: string, fields: Fields, combinations: Fields): UsageRow[] {
  const rows = new Map<string, MutableRow>();
  for (const [field, value] of Object.entries(fields)) {
    // The model between them may have colons of its own.
    const figure = FIGURE_OF.get(field.slice(field.lastIndexOf(":") + 1));
    const subject = field.slice(0, field.lastIndexOf(":"));
    const row = rows.get(subject) ?? createRow(day, subject, combinations);
    rows.set(subject, row);
    if (figure !== undefined) setFigure(row, figure, value);
  }
  return [...rows.entries()].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, row]) => row);
}

/** `subject`: "<key id>:<model>", with ".<owners>" behind the key and "#<tag row>" behind the model where there are some. */
function createRow(day: string, subject: string, combinations: Fields): MutableRow {
  const ids = subject.slice(0, subject.indexOf(":"));
  const [keyId = ""] = ids.split(".", 1);
  const [model = "", tagRow = ""] = subject.slice(subject.indexOf(":") + 1).split("#");
  return {
    day,
    keyId: keyId === "" ? null : keyId,
    owners: ids.slice(keyId.length + 1),
    model: model === "" ? null : model,
    tags: tagRow === "" || tagRow === OTHER_TAGS ? tagRow : (combinations[tagRow] ?? OTHER_TAGS),
    ...NO_USAGE,
  };
}
