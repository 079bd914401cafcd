/**
 * Entry of the list of recent requests: `id`, by which entries are found, and `request`, a JSON list of all
 * other fields. One text costs Redis a fraction of fifteen fields. `close.lua` writes the same list.
 */
import * as z from "zod";
import { formatJsonText } from "../../../shared/text/json-text.ts";
import { USAGE_FIGURES } from "../../../shared/usage/figures.ts";
import { LISTED_FIGURES } from "../../../shared/usage/usage-figures.ts";
import type { ChargeInput } from "../../../shared/stored/settlement.ts";
import {
  type Check,
  type RecordedRequest,
  type RequestTrace,
  UNKNOWN_TRACE,
} from "../../../shared/stored/reporting.ts";
import { formatChecks, formatTrace, parseChecks, parseTrace } from "./facts.ts";

/** First texts of the list, which scripts also write. */
export const RECENT_TEXTS = ["key", "route", "model", "tags", "status", "error"] as const;

/** Positions in the list: texts, except for the checks and the outcome at the upstream (a list, an object; or null). */
const ENTRY_FIELDS: readonly string[] = [
  ...RECENT_TEXTS,
  "checks",
  "trace",
  ...LISTED_FIGURES.map((figure) => USAGE_FIGURES[figure].field),
  // Omitted if the request has no owner.
  "owners",
  // Present if the request names a session; the owners are '' then if there are none.
  "session",
];

/** Fields by the names above, and the additional fields of rejections (`include/refused.lua`). */
export interface EntryFields {
  readonly texts: Readonly<Record<string, string>>;
  readonly checks: readonly Check[];
  readonly trace: RequestTrace;
}

const listSchema = z.array(z.unknown());

/** Positions of an entry's figures among all figures. */
const LISTED_POSITIONS = LISTED_FIGURES.map((figure) => USAGE_FIGURES[figure].position - 1);
const NOTHING = LISTED_FIGURES.map(() => '"0"').join(",");

/**
 * Formats the entry of a request that cost something and has ended; '' while it runs.
 * @param allFigures Figures of the charge as texts, by position.
 */
export function formatChargedEntry(input: ChargeInput, allFigures: readonly string[]): string {
  const { final, keyId, route, model } = input;
  if (final === null) return "";
  const { status, errorCode, checks, trace } = final;
  const { tags, owners, session } = input;
  return formatEntry(
    { keyId, route, model, tags, owners, session, status, errorCode, checks, trace },
    allFigures,
  );
}

/** @param allFigures Figures as texts, by position; omitted: all are 0. */
export function formatEntry(
  request: Omit<RecordedRequest, "organizationId" | "requestId">,
  allFigures?: readonly string[],
): string {
  const { keyId, route, model, tags, owners, session, status, errorCode, checks, trace } = request;
  const run = session === undefined ? "" : `,${formatJsonText(session)}`;
  const figures = allFigures === undefined ? NOTHING : joinListed(allFigures);
  const subject = (owners ?? "") === "" && run === "" ? "" : `,${formatJsonText(owners ?? "")}${run}`;
  return (
    `[${formatJsonText(keyId)},${formatJsonText(route)},${formatJsonText(model ?? "")},${formatJsonText(tags ?? "")}` +
    `,"${status}",${formatJsonText(errorCode ?? "")},${formatChecks(checks)},${formatTrace(trace)},${figures}${subject}]`
  );
}

function joinListed(allFigures: readonly string[]): string {
  let figures = "";
  for (const position of LISTED_POSITIONS) {
    figures += figures === "" ? `"${allFigures[position]}"` : `,"${allFigures[position]}"`;
  }
  return figures;
}

/** Returns the list of an entry with another outcome. */
export function replaceOutcome(
  entry: string,
  { status, errorCode, checks }: Pick<RecordedRequest, "status" | "errorCode" | "checks">,
): string {
  const list = listSchema.parse(JSON.parse(entry));
  list[ENTRY_FIELDS.indexOf("status")] = String(status);
  list[ENTRY_FIELDS.indexOf("error")] = errorCode ?? "";
  list[ENTRY_FIELDS.indexOf("checks")] = JSON.parse(formatChecks(checks));
  return JSON.stringify(list);
}

/** @param items Names and values of an entry, alternating. */
export function parseEntryFields(items: readonly string[]): EntryFields {
  const texts: Record<string, string> = {};
  for (let position = 0; position + 1 < items.length; position += 2) {
    texts[items[position] ?? ""] = items[position + 1] ?? "";
  }
  const { request } = texts;
  if (request === undefined) return { texts, checks: [], trace: UNKNOWN_TRACE };
  const list = listSchema.parse(JSON.parse(request));
  for (const [position, name] of ENTRY_FIELDS.entries()) {
    const value = list[position];
    if (typeof value === "string") texts[name] = value;
  }
  const at = (name: string): unknown => list[ENTRY_FIELDS.indexOf(name)] ?? null;
  return { texts, checks: parseChecks(at("checks")), trace: parseTrace(at("trace")) };
}
