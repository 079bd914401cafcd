/** The rows of a day's usage as Redis has them: a hash with a field for each figure of each row. */
import { tagCombinationsKey, usageKey } from "../redis/keys.ts";
import type { StoreContext } from "../context.ts";
import type { UsageOf, UsageRow } from "../types/reporting.ts";
import { USAGE_FIGURES } from "../../../shared/usage/figures.ts";
import { OTHER_TAGS } from "../../../shared/usage/tags.ts";
import { FIGURES, NO_USAGE, type UsageFigure } from "../../../shared/usage/usage-figures.ts";
import { setFigure } from "./row-figures.ts";

/**
 * Fields of a hash that one command reads. A day may have tens of thousands: read at once, they keep Redis from the
 * workers, whose commands wait 250 ms at most, and this process from its other callers.
 */
const PIECE = 500;

/** Field in Redis → figure of a row. */
const FIGURE_OF = new Map<string, UsageFigure>(
  FIGURES.map((figure) => [USAGE_FIGURES[figure].field, figure]),
);

type Client = StoreContext["client"];
type MutableRow = { -readonly [Name in keyof UsageRow]: UsageRow[Name] };

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
      // The model between them may have colons of its own.
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

/** After the rows were read: a combination is there before the first figure of its row. */
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

/** A field may come twice, with the same or a newer value. */
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

/** Only what it matches leaves Redis. */
function patternOf({ keyId, userId }: UsageOf): string {
  const key = keyId === undefined ? "*" : keyId.replace(/[\\*?[\]]/g, "\\$&");
  return userId === undefined ? `${key}[.:]*` : `${key}.${userId}[.:]*`;
}

/**
 * `subject`: "<key id>:<model>", with ".<owners>" behind the key and "#<tag row>" behind the model where there are some.
 * The tags are those of `nameTags` afterwards.
 */
function createRow(day: string, subject: string): MutableRow {
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
