/**
 * An entry of the list of recent requests: `id`, by which it is looked for, and `request`, a JSON list of all the rest.
 * One text costs Redis a fraction of fifteen fields. `close.lua` writes the same list.
 */
import * as z from "zod";
import { formatJsonText } from "../../text/json-text.ts";
import { formatAmount, formatCount } from "../redis/parse-reply.ts";
import type { ChargeInput } from "../types/settlement.ts";
import type { Check, RecordedRequest, RequestWay } from "../types/reporting.ts";
import { formatWay, parseWay } from "./way.ts";

/** What stands where in the list; new ones come last. Texts, but for the checks and the way (a list, an object; or null). */
const ENTRY_FIELDS = [
  "key",
  "route",
  "model",
  "tags",
  "status",
  "error",
  "checks",
  "way",
  "input",
  "cached",
  "output",
  "reasoning",
  "estimated",
  "microcents",
  // Not there where nobody is, and in entries from before there were users and groups.
  "owners",
  // Where a request names one; the owners are '' then where nobody is.
  "session",
] as const;

/** By the names above, and those that refusals have beside them (`include/refused.lua`). */
export interface EntryFields {
  readonly texts: Readonly<Record<string, string>>;
  readonly checks: readonly Check[];
  readonly way: RequestWay;
}

const checksSchema = z.array(
  z.object({
    name: z.string(),
    passed: z.boolean(),
    figures: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
  }),
);

const listSchema = z.array(z.unknown());

/** What a request that cost something is told as, when it has ended; '' while it runs. */
export function formatChargedEntry(input: ChargeInput): string {
  const { final, tokens, keyId, route, model } = input;
  if (final === null) return "";
  const { status, errorCode, checks, way } = final;
  const figures =
    `"${formatCount(tokens.input)}","${formatCount(tokens.cachedInput)}","${formatCount(tokens.output)}"` +
    `,"${formatCount(tokens.reasoning)}","${input.estimated ? "1" : "0"}","${formatAmount(input.totalMicrocents)}"`;
  const { tags, owners, session } = input;
  return formatEntry({ keyId, route, model, tags, owners, session, status, errorCode, checks, way }, figures);
}

export function formatEntry(
  request: Omit<RecordedRequest, "organizationId" | "requestId">,
  figures = '"0","0","0","0","0","0"',
): string {
  const { keyId, route, model, tags, owners, session, status, errorCode, checks, way } = request;
  const run = session === undefined ? "" : `,${formatJsonText(session)}`;
  const whose = (owners ?? "") === "" && run === "" ? "" : `,${formatJsonText(owners ?? "")}${run}`;
  return (
    `[${formatJsonText(keyId)},${formatJsonText(route)},${formatJsonText(model ?? "")},${formatJsonText(tags ?? "")}` +
    `,"${status}",${formatJsonText(errorCode ?? "")},${formatChecks(checks)},${formatWay(way)},${figures}${whose}]`
  );
}

/** @param items Names and values of an entry in turns: of this version, of an older one, or of a refusal. */
export function parseEntryFields(items: readonly string[]): EntryFields {
  const texts: Record<string, string> = {};
  for (let position = 0; position + 1 < items.length; position += 2) {
    texts[items[position] ?? ""] = items[position + 1] ?? "";
  }
  const { request, checks, way } = texts;
  if (request === undefined) {
    return { texts, checks: parseChecks(parseText(checks)), way: parseWay(parseText(way)) };
  }
  const list = listSchema.parse(JSON.parse(request));
  for (const [position, name] of ENTRY_FIELDS.entries()) {
    const value = list[position];
    if (typeof value === "string") texts[name] = value;
  }
  const at = (name: (typeof ENTRY_FIELDS)[number]): unknown => list[ENTRY_FIELDS.indexOf(name)] ?? null;
  return { texts, checks: parseChecks(at("checks")), way: parseWay(at("way")) };
}

/** Requests at one price share its check: it is put into words once. */
const wordsOfCheck = new WeakMap<Check, string>();

/** JSON. */
export function formatChecks(checks: readonly Check[]): string {
  const [check] = checks;
  if (check === undefined || checks.length > 1) return JSON.stringify(checks);
  const known = wordsOfCheck.get(check);
  if (known !== undefined) return known;
  const words = JSON.stringify(checks);
  wordsOfCheck.set(check, words);
  return words;
}

function parseChecks(value: unknown): readonly Check[] {
  return value === null ? [] : checksSchema.parse(value);
}

function parseText(text: string | undefined): unknown {
  return text === undefined || text === "" ? null : JSON.parse(text);
}
