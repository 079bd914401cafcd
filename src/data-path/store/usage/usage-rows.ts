/** Usage rows of a day in Redis: a hash with a field for each figure of each row. */
import { tagCombinationsKey, usageKey } from "../redis/keys.ts";
import type { StoreContext } from "../context.ts";
import type { UsageOf, UsageRow } from "../../../shared/stored/reporting.ts";
import { USAGE_FIGURES } from "../../../shared/usage/figures.ts";
import { OTHER_TAGS } from "../../../shared/usage/tags.ts";
import { FIGURES, NO_USAGE, type UsageFigure } from "../../../shared/usage/usage-figures.ts";
import { setFigure } from "./row-figures.ts";

/**
 * Fields per read. A day may have tens of thousands; reading all at once would block Redis for the workers,
 * whose commands wait 250 ms at most, and this process for its other callers.
 */
const PIECE = 500;

/** Figures by the name of their field in Redis. */
const FIGURE_OF = new Map<string, UsageFigure>(
  FIGURES.map((figure) => [USAGE_FIGURES[figure].field, figure]),
);

type Client = StoreContext["client"];
export type MutableRow = { -readonly [Name in keyof UsageRow]: UsageRow[Name] };

/** @see UsageStore.readUsageOfDay */
export async function readRowsOfDay(
  client: Client,
  organizationId: string,
  day: string,
  of: UsageOf,
): Promise<UsageRow[]> {
  const rows = new Map<string, MutableRow>();
  for await (const fields of readPieces(client, usageKey(organizationId, day), patternOf(of))) {
    for (const [field, value] of fields) {
      // The model in between may contain colons.
      const end = field.lastIndexOf(":");
      const subject = field.slice(0, end);
      const figure = FIGURE_OF.get(field.slice(end + 1));
      const row = rows.get(subject) ?? createRow(day, subject);
      rows.set(subject, row);
      if (figure !== undefined) setFigure(row, figure, value);
    }
  }
  const sorted = [...rows].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, row]) => row);
  if (sorted.some(({ tags }) => tags !== "")) await nameTags(client, organizationId, sorted);
  return sorted;
}

/** Adds the tags, after the rows were read: a combination is written before the first figure of its row. */
async function nameTags(client: Client, organizationId: string, rows: readonly MutableRow[]): Promise<void> {
  const combinations = new Map<string, string>();
  const month = rows[0]?.day.slice(0, "2026-11".length) ?? "";
  for await (const fields of readPieces(client, tagCombinationsKey(organizationId, month), "*")) {
    for (const [tagRow, tags] of fields) combinations.set(tagRow, tags);
  }
  for (const row of rows) {
    if (row.tags !== "" && row.tags !== OTHER_TAGS) row.tags = combinations.get(row.tags) ?? OTHER_TAGS;
  }
}

/** Reads in pieces. A field may occur twice, with the same or a newer value. */
async function* readPieces(
  client: Client,
  key: string,
  pattern: string,
): AsyncGenerator<readonly (readonly [field: string, value: string])[]> {
  let cursor = "0";
  do {
    const [next, found] = await client.hscan(key, cursor, "MATCH", pattern, "COUNT", PIECE);
    yield found.flatMap((field, position) =>
      position % 2 === 0 ? [[field, found[position + 1] ?? ""]] : [],
    );
    cursor = next;
  } while (cursor !== "0");
}

/** Returns a pattern, so that only matching fields leave Redis. */
function patternOf({ keyId, userId }: UsageOf): string {
  const key = keyId === undefined ? "*" : keyId.replace(/[\\*?[\]]/g, "\\$&");
  return userId === undefined ? `${key}[.:]*` : `${key}.${userId}[.:]*`;
}

/**
 * Creates a row from `subject`: "<key id>:<model>", with ".<owners>" after the key and "#<tag row>" after the
 * model if present. `nameTags` adds the tags later.
 */
export function createRow(day: string, subject: string): MutableRow {
  const ids = subject.slice(0, subject.indexOf(":"));
  const [keyId = ""] = ids.split(".", 1);
  const [model = "", tagRow = ""] = subject.slice(subject.indexOf(":") + 1).split("#");
  return {
    day,
    keyId: keyId === "" ? null : keyId,
    owners: ids.slice(keyId.length + 1),
    model: model === "" ? null : model,
    tags: tagRow,
    ...NO_USAGE,
  };
}
