/** Options and output of commands that set and show settings, derived from the tables of `settings/`. */
import { type Command, InvalidArgumentError, Option } from "commander";
import { type GroupKind, isGroup } from "../../../shared/settings/group.ts";
import { formatLimitRows, type Limit, parseLimitList } from "../../../shared/settings/limits.ts";
import type { Setting, Settings } from "../../../shared/settings/setting.ts";
import { parsePairs } from "../../../shared/settings/parse-pairs.ts";
import { isRequired } from "../../../shared/settings/table.ts";
import type { JsonObject } from "./admin-client.ts";
import {
  collect,
  convertNone,
  formatAmount,
  formatSecond,
  NONE,
  parseAmount,
  parseFutureTime,
  parseWhole,
  parseWholeOrNone,
} from "./option-values.ts";
import { RefusedCall } from "./command-error.ts";
import { type Field, formatValue, type RecordColumn } from "../terminal/table.ts";

/** Values by commander's names. */
export type OptionValues = Readonly<Record<string, unknown>>;

/** API names of the fields that options set, for matching errors: "notifications.emails". */
const FIELDS = new WeakMap<Option, string>();

/** Adds the options of the creation or change command. */
export function addSettingOptions(
  command: Command,
  table: Settings,
  on: "create" | "change",
  group = "",
): Command {
  for (const row of Object.values(table)) {
    const texts = row.cli?.option;
    const field = group + row.apiName;
    if (isGroup(row.kind)) addSettingOptions(command, row.kind.members, on, `${field}.`);
    if (texts === undefined || (on === "change" && row.ownControls !== undefined)) continue;
    const option = new Option(texts.flags, on === "change" ? (texts.changeHelp ?? texts.help) : texts.help);
    const parser = parserOf(row);
    if (parser !== null) option.argParser(parser);
    FIELDS.set(option, field);
    command.addOption(option.makeOptionMandatory(on === "create" && isRequired(row)));
    if (texts.offHelp !== undefined) command.option(texts.flags.replace("--", "--no-"), texts.offHelp);
  }
  return command;
}

/** Returns the error with the option's name, if an option sets the field or the list that contains it. */
export function nameOption(thrown: unknown, command: Command): unknown {
  if (!(thrown instanceof RefusedCall) || thrown.param === null) return thrown;
  const { message, param, status } = thrown;
  const list = param.replace(/\.(?:\d+|url)$/, "");
  const option = command.options.find(
    (one) => [param, list].includes(FIELDS.get(one) ?? "") || one.name() === param.replaceAll("_", "-"),
  );
  if (option === undefined) return thrown;
  const named = message
    .replace(`\`${param}\``, `\`${option.long ?? option.flags}\``)
    .replace("`GET /api/catalog`", "`inference-gateway catalog`");
  return new RefusedCall(named, param, status);
}

/** Builds the body of a call from the given options, with the API's names. */
export function readSettings(table: Settings, options: OptionValues): Record<string, unknown> {
  const body: Record<string, unknown> = {};
  for (const row of Object.values(table)) {
    const value = isGroup(row.kind) ? readGroup(row.kind, options) : readOption(row, options);
    if (value !== undefined) body[row.apiName] = value;
  }
  return body;
}

/**
 * Formats a line for each setting of one organization, key, user or group. `spend` precedes the first amount,
 * with which it is compared.
 */
export function showSettings(
  table: Settings,
  one: JsonObject,
  currency: string,
  spend: readonly Field[],
): readonly Field[] {
  return withSpend(table, spend, (row) => showSetting(row, one[row.apiName], currency));
}

/** Returns the settings as columns of a list. @param currencyOf Returns the currency of a row. */
export function settingColumns(
  table: Settings,
  currencyOf: (one: JsonObject) => string,
): readonly RecordColumn<JsonObject>[] {
  const spent = {
    header: "SPENT",
    cell: (one: JsonObject) => formatAmount(one["spent_cents"], currencyOf(one)),
  };
  return withSpend(table, [spent], (row) => {
    const header = row.cli?.column;
    if (header === undefined) return [];
    return [{ header, cell: (one: JsonObject) => formatSetting(row, one[row.apiName], currencyOf(one)) }];
  });
}

function withSpend<Shown>(
  table: Settings,
  spend: readonly Shown[],
  show: (row: Setting) => readonly Shown[],
): readonly Shown[] {
  const rows = Object.values(table);
  const first = rows.findIndex((row) => row.kind.notation === "amount");
  // No amount to compare the spend with.
  if (first === -1) return rows.flatMap(show);
  return [...rows.slice(0, first).flatMap(show), ...spend, ...rows.slice(first).flatMap(show)];
}

function showSetting(row: Setting, value: unknown, currency: string): readonly Field[] {
  const label = row.cli?.label;
  // Shown only if there are any, since few have.
  const isEmpty = row.kind.notation === "raises" && liveRaisesOf(value).length === 0;
  if (label === undefined || isEmpty) return [];
  if (!isGroup(row.kind)) return [[label, formatSetting(row, value, currency)]];
  const members = value as JsonObject;
  return Object.values<Setting>(row.kind.members)
    .flatMap((member) => showSetting(member, members[member.apiName], currency))
    .map(([name, shown]) => [`${label}: ${name}`, shown]);
}

function formatSetting({ kind, cli }: Setting, value: unknown, currency: string): string {
  const none = cli?.none ?? NONE;
  switch (kind.notation) {
    case "amount":
      return formatAmount(value, currency);
    case "flag":
      return value === true ? "yes" : "no";
    case "limits": {
      const rows = formatLimitRows(value as readonly Limit[]);
      return rows.length === 0 ? none : rows.join(", ");
    }
    case "raises":
      return (
        liveRaisesOf(value)
          .map((raise) => formatRaise(raise, currency))
          .join(", ") || none
      );
    case "models":
    case "emails":
      return Array.isArray(value) && value.length > 0 ? value.join(", ") : none;
    case "names": {
      const pairs = Object.entries(value as JsonObject).map(([name, id]) => `${name}=${String(id)}`);
      return pairs.length === 0 ? none : pairs.join(", ");
    }
    case "webhook":
      return value === null ? none : String((value as JsonObject)["url"]);
    case "webhooks": {
      const all = value as readonly JsonObject[];
      return all.length === 0
        ? none
        : all.map(({ format, url }) => `${String(format)} ${String(url)}`).join(", ");
    }
    case "text":
    case "choice":
    case "model":
    case "whole":
    case "rate":
    case "time":
    case "userId":
    case "groupId":
    case "group":
      return formatValue(value, none);
    default:
      return kind.notation satisfies never;
  }
}

function readGroup({ members }: GroupKind<Settings>, options: OptionValues): object | undefined {
  const given = readSettings(members, options);
  return Object.keys(given).length === 0 ? undefined : given;
}

function readOption({ kind, cli }: Setting, options: OptionValues): unknown {
  if (cli?.option === undefined) return undefined;
  const value = convertNone(options[new Option(cli.option.flags).attributeName()]);
  if (kind.notation === "emails") return value === null ? [] : value;
  if (kind.notation === "names" && value !== undefined) {
    return parsePairs(Array.isArray(value) ? value.map(String) : []);
  }
  return kind.notation === "webhook" && typeof value === "string" ? { url: value } : value;
}

/** Returns null if the text is sent to the API unchanged. */
function parserOf(row: Setting): ((text: string, before: unknown) => unknown) | null {
  switch (row.kind.notation) {
    case "whole":
    case "rate":
      return row.default === null ? parseWholeOrNone : parseWhole;
    case "amount":
      return parseAmount;
    case "models":
    case "names":
    case "emails":
      return (text, before) => collect(text, before as Parameters<typeof collect>[1]);
    case "text":
    case "choice":
    case "model":
    case "flag":
    case "webhook":
    case "webhooks":
    case "userId":
    case "groupId":
    case "group":
    case "raises":
      return null;
    case "limits":
      return parseLimits;
    case "time":
      return parseFutureTime;
    default:
      return row.kind.notation satisfies never;
  }
}

/** @throws InvalidArgumentError */
function parseLimits(text: string): readonly Limit[] {
  try {
    return parseLimitList(text);
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? error.message : String(error));
  }
}

/** Returns the active increases of a response's `raises`. */
export function liveRaisesOf(raises: unknown): readonly JsonObject[] {
  const all = raises as readonly JsonObject[];
  return all.filter(({ expires_at: expiresAt }) => Date.parse(String(expiresAt)) > Date.now());
}

/** Formats "+50.00 USD a week until 2026-12-04T00:00:00Z". */
export function formatRaise(raise: JsonObject, currency: string): string {
  const { period, add_cents: cents, expires_at: expiresAt } = raise;
  const amount = formatAmount(cents, currency).trim();
  const window = period === "total" ? "in total" : `a ${String(period)}`;
  return `+${amount} ${window} until ${formatSecond(expiresAt)}`;
}
