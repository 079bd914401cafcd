/** The log of requests, added up: what was charged by the record of those who counted it. */
import { createReadStream } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import * as z from "zod";
import { type ChargedTool, toolMicrocents } from "../pricing/tool-charges.ts";
import { formatTags, OTHER_TAGS } from "../tags.ts";
import { TOKEN_KINDS, TOKEN_NAMES } from "../token-usage.ts";
import { NO_USAGE, type UsageFigures, type UsageRow } from "../store/types/reporting.ts";

/** Of one organization, day, key, model and combination of tags. */
export interface LoggedRow extends UsageRow {
  readonly keyId: string;
  readonly model: string;
  /**
   * The part of its figures that may be in the row `OTHER_TAGS` instead: of requests whose hold Redis did not answer, so
   * that their log cannot say which.
   */
  readonly undecided: UsageFigures;
}

export interface LoggedUsage {
  readonly month: string;
  /** By organization. */
  readonly rows: ReadonlyMap<string, readonly LoggedRow[]>;
  readonly requests: number;
  /** Lines that are none: torn by a crash. */
  readonly damagedLines: number;
  readonly files: number;
}

type MutableFigures = { -readonly [Name in keyof UsageFigures]: UsageFigures[Name] };
type MutableRow = Omit<LoggedRow, keyof UsageFigures | "undecided"> &
  MutableFigures & { readonly undecided: MutableFigures };

const FILE = /^(\d{4}-\d{2}-\d{2})\..+\.jsonl$/;

/** Digits of amounts may be more than a double holds, so the cost is taken from the text. */
const COST = /"cost_microcents":(\d{1,20})\}$/;
const lineSchema = z.object({
  request_id: z.string(),
  organization_id: z.string(),
  key_id: z.string(),
  model: z.string().nullable(),
  outcome: z.string(),
  month: z.string(),
  day: z.string(),
  input_tokens: z.number(),
  cached_input_tokens: z.number(),
  output_tokens: z.number(),
  reasoning_tokens: z.number(),
  // Lines of older versions have none of these.
  cache_write_tokens: z.number().default(0),
  cache_write_1h_tokens: z.number().default(0),
  input_audio_tokens: z.number().default(0),
  output_audio_tokens: z.number().default(0),
  server_tools: z
    .record(z.string(), z.object({ uses: z.number().int(), microcents_per_thousand: z.number().int() }))
    .default({}),
  estimated: z.boolean(),
  // Lines from before there were tags have neither.
  tags: z.record(z.string(), z.string()).default({}),
  tag_row: z.enum(["own", "other"]).nullable().default(null),
});
type Line = z.output<typeof lineSchema>;

/** Requests that count in the usage: those that went upstream. */
const UNCOUNTED = new Set(["refused", "not_sent"]);

/**
 * Adds up all lines of a folder whose request was admitted in a month.
 * @throws the file system's error when there is no such folder.
 */
export async function readLoggedUsage(dir: string, month: string): Promise<LoggedUsage> {
  const names = (await readdir(dir)).filter((name) => isOfMonth(name, month)).sort();
  const rows = new Map<string, Map<string, MutableRow>>();
  const counts = { requests: 0, damagedLines: 0 };
  for (const name of names) {
    const lines = createInterface({ input: createReadStream(join(dir, name)), crlfDelay: Infinity });
    for await (const text of lines) {
      if (text === "") continue;
      const line = parseLine(text);
      if (line === null) counts.damagedLines += 1;
      else if (line.month === month && line.model !== null && !UNCOUNTED.has(line.outcome)) {
        counts.requests += 1;
        const row = rowOf(rows, line);
        add(row, line, costOf(text));
        if (row.tags !== "" && line.tag_row === null) add(row.undecided, line, costOf(text));
      }
    }
  }
  const byOrganization = [...rows].map(([id, own]) => [id, [...own.values()]] as const);
  return { month, rows: new Map(byOrganization), files: names.length, ...counts };
}

/** Files are named after the day on which requests ended, which may be in a later month than their admission. */
function isOfMonth(name: string, month: string): boolean {
  const day = FILE.exec(name)?.[1];
  return day !== undefined && day.slice(0, 7) >= month;
}

function parseLine(text: string): Line | null {
  if (!COST.test(text)) return null;
  try {
    const parsed = lineSchema.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : null;
  } catch {
    // Torn: counted by the caller.
    return null;
  }
}

function costOf(text: string): bigint {
  return BigInt(COST.exec(text)?.[1] ?? "0");
}

function rowOf(rows: Map<string, Map<string, MutableRow>>, line: Line): MutableRow {
  let own = rows.get(line.organization_id);
  if (own === undefined) rows.set(line.organization_id, (own = new Map()));
  const tags = line.tag_row === "other" ? OTHER_TAGS : formatTags(new Map(Object.entries(line.tags)));
  const name = `${line.day} ${line.key_id} ${line.model} ${tags}`;
  let row = own.get(name);
  if (row === undefined) {
    row = {
      day: line.day,
      keyId: line.key_id,
      model: line.model ?? "",
      tags,
      ...NO_USAGE,
      undecided: { ...NO_USAGE },
    };
    own.set(name, row);
  }
  return row;
}

function toolsOf({ server_tools: tools }: Line): ChargedTool[] {
  return Object.entries(tools).map(([name, { uses, microcents_per_thousand: rate }]) => ({
    name,
    uses,
    rate: BigInt(rate),
  }));
}

function add(figures: MutableFigures, line: Line, cost: bigint): void {
  for (const kind of TOKEN_KINDS) {
    figures[kind] += line[TOKEN_NAMES[kind]];
  }
  figures.requests += 1;
  figures.estimatedRequests += line.estimated ? 1 : 0;
  figures.costMicrocents += cost;
  figures.toolMicrocents += toolMicrocents(toolsOf(line), cost);
}
