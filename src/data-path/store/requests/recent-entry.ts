/**
 * An entry of the list of recent requests: `id`, by which it is looked for, and `request`, a JSON list of all the rest.
 * One text costs Redis a fraction of fifteen fields. `close.lua` writes the same list.
 */
import * as z from "zod";
import { formatJsonText } from "../../../shared/text/json-text.ts";
import { USAGE_FIGURES } from "../../../shared/usage/figures.ts";
import { LISTED_FIGURES } from "../../../shared/usage/usage-figures.ts";
import type { ChargeInput } from "../types/settlement.ts";
import { type Check, type RecordedRequest, type RequestWay, UNKNOWN_WAY } from "../types/reporting.ts";
import { formatChecks, formatWay, parseChecks, parseWay } from "./facts.ts";

/** The texts that the list begins with, which scripts write too. */
export const RECENT_TEXTS = ["key", "route", "model", "tags", "status", "error"] as const;

/** What stands where in the list: texts, but for the checks and the way (a list, an object; or null). */
const ENTRY_FIELDS: readonly string[] = [
  ...RECENT_TEXTS,
  "checks",
  "way",
  ...LISTED_FIGURES.map((figure) => USAGE_FIGURES[figure].field),
  // Left out where nobody is.
  "owners",
  // Where a request names one; the owners are '' then where nobody is.
  "session",
];

/** By the names above, and those that refusals have beside them (`include/refused.lua`). */
export interface EntryFields {
  readonly texts: Readonly<Record<string, string>>;
  readonly checks: readonly Check[];
  readonly way: RequestWay;
}

const listSchema = z.array(z.unknown());

/** Where the figures of an entry stand among all. */
const LISTED_POSITIONS = LISTED_FIGURES.map((figure) => USAGE_FIGURES[figure].position - 1);
const NOTHING = LISTED_FIGURES.map(() => '"0"').join(",");

/**
 * What a request that cost something is told as, when it has ended; '' while it runs.
 * @param allFigures Of the charge, as texts by their position.
 */
export function formatChargedEntry(input: ChargeInput, allFigures: readonly string[]): string {
  const { final, keyId, route, model } = input;
  if (final === null) return "";
  const { status, errorCode, checks, way } = final;
  let figures = "";
  for (const position of LISTED_POSITIONS) {
    figures += figures === "" ? `"${allFigures[position]}"` : `,"${allFigures[position]}"`;
  }
  const { tags, owners, session } = input;
  return formatEntry({ keyId, route, model, tags, owners, session, status, errorCode, checks, way }, figures);
}

export function formatEntry(
  request: Omit<RecordedRequest, "organizationId" | "requestId">,
  figures = NOTHING,
): string {
  const { keyId, route, model, tags, owners, session, status, errorCode, checks, way } = request;
  const run = session === undefined ? "" : `,${formatJsonText(session)}`;
  const whose = (owners ?? "") === "" && run === "" ? "" : `,${formatJsonText(owners ?? "")}${run}`;
  return (
    `[${formatJsonText(keyId)},${formatJsonText(route)},${formatJsonText(model ?? "")},${formatJsonText(tags ?? "")}` +
    `,"${status}",${formatJsonText(errorCode ?? "")},${formatChecks(checks)},${formatWay(way)},${figures}${whose}]`
  );
}

/** @param items Names and values of an entry, alternating. */
export function parseEntryFields(items: readonly string[]): EntryFields {
  const texts: Record<string, string> = {};
  for (let position = 0; position + 1 < items.length; position += 2) {
    texts[items[position] ?? ""] = items[position + 1] ?? "";
  }
  const { request } = texts;
  if (request === undefined) return { texts, checks: [], way: UNKNOWN_WAY };
  const list = listSchema.parse(JSON.parse(request));
  for (const [position, name] of ENTRY_FIELDS.entries()) {
    const value = list[position];
    if (typeof value === "string") texts[name] = value;
  }
  const at = (name: string): unknown => list[ENTRY_FIELDS.indexOf(name)] ?? null;
  return { texts, checks: parseChecks(at("checks")), way: parseWay(at("way")) };
}
