/**
 * Sums of a day's usage rows over all tags, by key, user, group and model. The first report about a past day stores them next
 * to the rows. Later reports read one text for each user instead of a field for each figure of each row. A script that changes
 * a row deletes the sums of its day (`delete_sums` in `lua/include/spend.lua`), so a charge writes nothing more than its row.
 */
import { randomUUID } from "node:crypto";
import { dayAt, daysOf, expiryOf, parseMonth } from "../../../shared/time/calendar.ts";
import { readTags } from "../../../shared/usage/tags.ts";
import { addFigures, FIGURES_BY_POSITION } from "../../../shared/usage/usage-figures.ts";
import type { StoreContext } from "../context.ts";
import { organizationKey, usageKey, usageSumsKey } from "../redis/keys.ts";
import { parseArray } from "../redis/parse-reply.ts";
import { OUTCOME } from "../redis/reply-layouts.ts";
import { parseOwnerIds } from "../../../shared/stored/owner-ids.ts";
import type { UsageOf, UsageRow } from "../../../shared/stored/reporting.ts";
import { setFigure } from "./row-figures.ts";
import { createRow, type MutableRow, readRowsOfDay } from "./usage-rows.ts";

/** Most text stored for a day, about 10,000 sums: one command reads it. The rows of a day with more are read every time. */
const MAX_CHARACTERS = 2 * 1024 ** 2;
/** The field with the state of the others: `WHOLE`, or the mark of the caller that reads the rows. */
const STATE = "state";
const WHOLE = "whole";

/** Name of a usage row without its tags → sum. */
type Sums = ReadonlyMap<string, UsageRow>;

/** @see UsageStore.readSumsOfDay */
export async function readSumsOfDay(
  context: StoreContext,
  organizationId: string,
  day: string,
  of: UsageOf,
): Promise<readonly UsageRow[]> {
  const stored = await readStoredSums(context, organizationId, day, of.userId);
  if (stored !== null) return stored;
  const mark =
    of.userId === undefined && of.keyId === undefined ? await begin(context, organizationId, day) : null;
  const sums = addUp(await readRowsOfDay(context.client, organizationId, day, mark === null ? of : {}));
  if (mark !== null) await store(context, organizationId, day, mark, sums);
  return [...sums.values()];
}

/** Reads the stored sums, of all users or of one; null: none are stored. */
export async function readStoredSums(
  { client }: StoreContext,
  organizationId: string,
  day: string,
  userId?: string,
): Promise<readonly UsageRow[] | null> {
  const key = usageSumsKey(organizationId, day);
  if (userId === undefined) {
    const { [STATE]: state, ...texts } = await client.hgetall(key);
    return state === WHOLE ? Object.values(texts).flatMap((text) => parseSums(day, text)) : null;
  }
  const [state, text] = await client.hmget(key, STATE, userId);
  return state === WHOLE ? parseSums(day, text ?? "") : null;
}

/** @see UsageStore.deleteSums */
export async function deleteSums(
  { client }: StoreContext,
  organizationId: string,
  month: string,
): Promise<void> {
  const period = parseMonth(month);
  const keys = period === null ? [] : daysOf(period).map((day) => usageSumsKey(organizationId, day));
  if (keys.length > 0) await client.unlink(...keys);
}

/** Returns the mark to store the day's sums with; null: the day is not over, or has no usage. */
async function begin(context: StoreContext, organizationId: string, day: string): Promise<string | null> {
  const mark = randomUUID();
  const reply = await context.client.igwBeginSums({
    organization: organizationKey(organizationId),
    usage: usageKey(organizationId, day),
    sums: usageSumsKey(organizationId, day),
    day,
    dayEndMs: String(dayAt(Date.parse(day)).endMs),
    mark,
    expiresAtMs: expiryText(context, day),
  });
  return parseArray(reply)[OUTCOME] === "begun" ? mark : null;
}

async function store(
  context: StoreContext,
  organizationId: string,
  day: string,
  mark: string,
  sums: Sums,
): Promise<void> {
  const fields = [...formatSums(sums)].flat();
  if (fields.reduce((length, text) => length + text.length, 0) > MAX_CHARACTERS) return;
  await context.client.igwStoreSums({
    sums: usageSumsKey(organizationId, day),
    mark,
    expiresAtMs: expiryText(context, day),
    furtherArguments: fields,
  });
}

function expiryText({ usageMonths }: StoreContext, day: string): string {
  return String(expiryOf(day.slice(0, "2026-11".length), usageMonths));
}

function addUp(rows: readonly UsageRow[]): Sums {
  const sums = new Map<string, MutableRow>();
  const tagNames = new Map<MutableRow, Set<string>>();
  for (const row of rows) {
    const { day, keyId, owners, model } = row;
    const subject = `${keyId ?? ""}${owners === "" ? "" : `.${owners}`}:${model ?? ""}`;
    const sum = sums.get(subject) ?? createRow(day, subject);
    sums.set(subject, sum);
    addFigures(sum, row);
    const names = tagNames.get(sum) ?? new Set();
    tagNames.set(sum, names);
    for (const name of Object.keys(readTags(row.tags))) names.add(name);
  }
  for (const [sum, names] of tagNames) sum.tags = [...names].map((name) => `${name}=`).join(",");
  return sums;
}

/** Formats user id ('': none) → one line for each sum: its name, tags and figures by position, separated by spaces. */
function formatSums(sums: Sums): ReadonlyMap<string, string> {
  const lines = new Map<string, string[]>();
  for (const [subject, sum] of sums) {
    const userId = parseOwnerIds(sum.owners).userId ?? "";
    const own = lines.get(userId) ?? [];
    lines.set(userId, own);
    own.push([subject, sum.tags, ...FIGURES_BY_POSITION.map((figure) => sum[figure])].join(" "));
  }
  return new Map([...lines].map(([userId, own]) => [userId, own.join("\n")]));
}

function parseSums(day: string, text: string): UsageRow[] {
  if (text === "") return [];
  return text.split("\n").map((line) => {
    const [subject = "", tags = "", ...figures] = line.split(" ");
    const sum = { ...createRow(day, subject), tags };
    for (const [position, figure] of FIGURES_BY_POSITION.entries()) {
      const text = figures[position] ?? "0";
      if (text !== "0") setFigure(sum, figure, text);
    }
    return sum;
  });
}
