/** Adds up the request log: the charges as recorded by the processes that counted them. */
import { createReadStream } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type * as z from "zod";
import { type ChargedTool, toolMicrocents } from "../pricing/tool-charges.ts";
import { formatTags, OTHER_TAGS } from "../../shared/usage/tags.ts";
import { mapTokens, TOKEN_NAMES, type TokenUsage } from "../../shared/usage/token-usage.ts";
import {
  addFigures,
  type MutableUsageFigures,
  NO_USAGE,
  type UsageFigures,
} from "../../shared/usage/usage-figures.ts";
import { formatOwnerIds } from "../../shared/stored/owner-ids.ts";
import { type ChargeInput, LOGGED_SEQUENCE } from "../../shared/stored/settlement.ts";
import type { UsageRow } from "../../shared/stored/reporting.ts";
import { LINE_COST, lineSchema } from "./line.ts";

/** Usage of one organization, day, key, owners, model and combination of tags. */
export interface LoggedRow extends UsageRow {
  readonly keyId: string;
  readonly model: string;
  /**
   * Part of the figures that Redis may have put into the row `OTHER_TAGS`: Redis did not answer these requests'
   * admission, so their log cannot name the row.
   */
  readonly undecided: UsageFigures;
}

export interface LoggedUsage {
  readonly month: string;
  /** By organization. */
  readonly rows: ReadonlyMap<string, readonly LoggedRow[]>;
  readonly requests: number;
  /** Lines torn by a crash. */
  readonly damagedLines: number;
  /** Requests in another currency than their organization's. Redis rejects their charges, so they are in no row. */
  readonly otherCurrencyRequests: number;
  readonly files: number;
}

/** Billing currency by organization id; absent organizations may have any currency. */
export type Currencies = ReadonlyMap<string, string>;

type MutableRow = Omit<LoggedRow, keyof UsageFigures | "undecided"> &
  MutableUsageFigures & { readonly undecided: MutableUsageFigures };

const FILE = /^(\d{4}-\d{2}-\d{2})\..+\.jsonl$/;

type Line = z.output<typeof lineSchema>;
type ChargedLine = Line & { readonly model: string };

/** Outcomes of requests that did not go upstream and do not count as usage. */
const UNCOUNTED = new Set(["refused", "not_sent"]);

/**
 * Adds up all lines of a directory whose request was admitted in a month.
 * @throws The file system's error if the directory does not exist.
 */
export async function readLoggedUsage(
  dir: string,
  month: string,
  currencies: Currencies = new Map(),
): Promise<LoggedUsage> {
  const rows = new Map<string, Map<string, MutableRow>>();
  const counts = createCounts();
  let requests = 0;
  for await (const { line, costMicrocents } of readCharged(dir, { month, currencies }, counts)) {
    requests += 1;
    const row = rowOf(rows, line);
    add(row, line, costMicrocents);
    if (row.tags !== "" && line.tag_row === null) add(row.undecided, line, costMicrocents);
  }
  const byOrganization = [...rows].map(([id, own]) => [id, [...own.values()]] as const);
  return { month, rows: new Map(byOrganization), requests, ...counts };
}

interface ReadCounts {
  files: number;
  damagedLines: number;
  otherCurrencyRequests: number;
}

function createCounts(): ReadCounts {
  return { files: 0, damagedLines: 0, otherCurrencyRequests: 0 };
}

/** Filter of the requests to read. */
interface Wanted {
  readonly month: string;
  readonly currencies: Currencies;
}

interface Charged {
  readonly line: ChargedLine;
  readonly costMicrocents: bigint;
}

/**
 * Reads the lines of a month's charged requests in their organization's billing currency, each request once even if
 * the files repeat it.
 */
async function* readCharged(
  dir: string,
  { month, currencies }: Wanted,
  counts: ReadCounts,
): AsyncGenerator<Charged> {
  const names = (await readdir(dir)).filter((name) => canHave(name, month)).sort();
  for (const name of names) {
    counts.files += 1;
    // A write that a full disk cut short is repeated in the same file.
    const seen = new Set<string>();
    const lines = createInterface({ input: createReadStream(join(dir, name)), crlfDelay: Infinity });
    for await (const text of lines) {
      if (text === "") continue;
      const line = parseLine(text);
      if (line === null) counts.damagedLines += 1;
      else if (isCharged(line, month) && !seen.has(line.request_id)) {
        seen.add(line.request_id);
        if (isInOtherCurrency(line, currencies)) counts.otherCurrencyRequests += 1;
        else yield { line, costMicrocents: costOf(text) };
      }
    }
  }
}

function isCharged(line: Line, month: string): line is ChargedLine {
  return line.month === month && line.model !== null && !UNCOUNTED.has(line.outcome);
}

function isInOtherCurrency(line: Line, currencies: Currencies): boolean {
  const billedIn = currencies.get(line.organization_id);
  return billedIn !== undefined && line.currency !== billedIn;
}

/** Records detect repeated charges for this long; a spool sends its charges for a day less. */
const LATE_MS = 7 * 86_400_000;

/**
 * Reads the final charges of a month's requests that ended so recently that their owner may still send its own charge.
 */
export async function* readLateCharges(
  dir: string,
  month: string,
  nowMs: number,
  currencies: Currencies = new Map(),
): AsyncGenerator<ChargeInput> {
  for await (const { line, costMicrocents } of readCharged(dir, { month, currencies }, createCounts())) {
    if (Date.parse(line.settled_at) >= nowMs - LATE_MS) yield toCharge(line, costMicrocents);
  }
}

function toCharge(line: ChargedLine, totalMicrocents: bigint): ChargeInput {
  const tags = formatTags(new Map(Object.entries(line.tags)));
  const owners = ownersOf(line);
  return {
    organizationId: line.organization_id,
    keyId: line.key_id,
    requestId: line.request_id,
    month: line.month,
    day: line.day,
    model: line.model,
    route: line.route,
    ...(line.currency === undefined ? {} : { currency: line.currency }),
    ...(owners === "" ? {} : { owners }),
    ...(tags === "" ? {} : { tags }),
    totalMicrocents,
    toolMicrocents: toolMicrocents(toolsOf(line), totalMicrocents),
    sequence: LOGGED_SEQUENCE,
    tokens: tokensOf(line),
    requests: 1,
    estimated: line.estimated,
    estimate: null,
    final: { status: line.status, errorCode: line.error_code, checks: [] },
  };
}

/** Maximum delay of a host's clock behind that of Redis, which decides the month. */
const CLOCK_BEHIND_MS = 7 * 86_400_000;

/**
 * Returns whether a file may contain requests of a month. Files are named after the day, by the host's clock, on which
 * requests ended, which may be in a later month.
 */
function canHave(name: string, month: string): boolean {
  const day = FILE.exec(name)?.[1];
  const first = new Date(Date.parse(`${month}-01`) - CLOCK_BEHIND_MS).toISOString().slice(0, 10);
  return day !== undefined && day >= first;
}

function parseLine(text: string): Line | null {
  if (!LINE_COST.test(text)) return null;
  try {
    const parsed = lineSchema.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : null;
  } catch {
    // Torn; the caller counts it.
    return null;
  }
}

function costOf(text: string): bigint {
  return BigInt(LINE_COST.exec(text)?.[1] ?? "0");
}

function rowOf(rows: Map<string, Map<string, MutableRow>>, line: Line): MutableRow {
  let own = rows.get(line.organization_id);
  if (own === undefined) rows.set(line.organization_id, (own = new Map()));
  const tags = line.tag_row === "other" ? OTHER_TAGS : formatTags(new Map(Object.entries(line.tags)));
  const owners = ownersOf(line);
  const name = `${line.day} ${line.key_id} ${owners} ${line.model} ${tags}`;
  let row = own.get(name);
  if (row === undefined) {
    row = {
      day: line.day,
      keyId: line.key_id,
      owners,
      model: line.model ?? "",
      tags,
      ...NO_USAGE,
      undecided: { ...NO_USAGE },
    };
    own.set(name, row);
  }
  return row;
}

function ownersOf({ user_id: userId, group_id: groupId }: Line): string {
  return formatOwnerIds({ userId, groupId });
}

function toolsOf({ server_tools: tools }: Line): ChargedTool[] {
  return Object.entries(tools).map(([name, { uses, microcents_per_thousand: rate }]) => ({
    name,
    uses,
    rate: BigInt(rate),
  }));
}

function add(figures: MutableUsageFigures, line: Line, cost: bigint): void {
  addFigures(figures, {
    requests: 1,
    estimatedRequests: line.estimated ? 1 : 0,
    costMicrocents: cost,
    toolMicrocents: toolMicrocents(toolsOf(line), cost),
    ...tokensOf(line),
  });
}

function tokensOf(line: Line): TokenUsage {
  return mapTokens((kind) => line[TOKEN_NAMES[kind]]);
}
