/**
 * Texts that replace the markers of scripts, made from the tables that TypeScript uses:
 *
 * - `-- @input`: locals of the script's keys and arguments (`script-layouts.ts`), and FIRST_FURTHER_KEY and
 *   FIRST_FURTHER_ARGUMENT if it takes further ones.
 * - `-- @row NAME LIST INDEX [NEXT]`: locals of the items of a list from INDEX on (`row-layouts.ts`); NEXT
 *   names a local with the index after them.
 * - `-- @names NAME`: a list of names from `NAMES`.
 * - `-- @settings key` and `organization`: fields of the settings in an admission's reply, for HMGET.
 * - `-- @settings names`: names of these settings, for the header.
 * - `-- @figures NAME`: the figures of usage (`figures-lua.ts`).
 * - `-- @periods NAME`: the periods of limits (`periods-lua.ts`).
 * - `-- @wait` after a number of milliseconds: the actual duration of such a wait (`time/internal-waits.ts`).
 */
import { KEY_SETTINGS } from "../../../shared/settings/key.ts";
import { ORGANIZATION_SETTINGS } from "../../../shared/settings/organization.ts";
import type { StoredSettings } from "../../../shared/settings/setting.ts";
import { admittedRows } from "../../../shared/settings/table.ts";
import { internalWait } from "../../../shared/time/internal-waits.ts";
import { formatFiguresLua } from "./figures-lua.ts";
import { formatPeriodsLua } from "./periods-lua.ts";
import { RECENT_TEXTS } from "../requests/recent-entry.ts";
import { REFUSED_FIELDS } from "../requests/refused-entry.ts";
import { ADMITTED_SETTINGS } from "./reply-layouts.ts";
import { ROWS, type RowName } from "./row-layouts.ts";
import type { ScriptLayout } from "./script-layouts.ts";

const WAIT = /(?<= = )(\d+) -- @wait$/gm;
const MARKER = /^-- @(input|row|names|settings|figures|periods)((?: \S+)*)\n/gm;

/** Lists of names in Lua: `local REFUSED_FIELDS = { … }`. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  "refused-fields": REFUSED_FIELDS,
  "recent-texts": RECENT_TEXTS,
};

const SETTINGS: Readonly<Record<string, () => string>> = {
  key: () =>
    `local key_texts = redis.call('HMGET', key_record, ${formatFields(KEY_SETTINGS, ["display"])})\n`,
  organization: () =>
    `local organization_texts = redis.call('HMGET', organization, ${formatFields(ORGANIZATION_SETTINGS)})\n`,
  names: () => `--   {${ADMITTED_SETTINGS.map(inWords).join(", ")}}\n`,
};

/**
 * Replaces the markers of a script.
 * @param layout Layout of the script; null for included files, which have no input of their own.
 * @throws Error for an unknown marker.
 */
export function resolveMarkers(lua: string, layout: ScriptLayout | null): string {
  return lua
    .replace(WAIT, (_wait, ms: string) => String(internalWait(Number(ms))))
    .replace(MARKER, (marker, kind: string, rest: string) => {
      const given = rest.trim().split(" ");
      const text = formatMarker(kind, given, layout);
      if (text === null) throw new Error(`a script has the marker "${marker.trim()}", which nobody knows`);
      return text;
    });
}

function formatMarker(kind: string, given: readonly string[], layout: ScriptLayout | null): string | null {
  const [name = "", list = "", index = "", next] = given;
  if (kind === "figures") return formatFiguresLua(name);
  if (kind === "periods") return formatPeriodsLua(name);
  if (kind === "settings") return SETTINGS[name]?.() ?? null;
  if (kind === "names") return formatNames(name);
  if (kind === "row") return isRow(name) ? formatRow(ROWS[name], list, index, next) : null;
  return layout === null ? null : formatInput(layout);
}

function formatInput({ keys, arguments: named, furtherKeys, furtherArguments }: ScriptLayout): string {
  const constants: string[] = [];
  const kinds = Object.entries(named);
  if (furtherKeys === true) constants.push(`local FIRST_FURTHER_KEY = ${keys.length + 1}\n`);
  if (furtherArguments === true) constants.push(`local FIRST_FURTHER_ARGUMENT = ${kinds.length + 1}\n`);
  const taken = kinds.map(([, kind], index) => {
    const item = `ARGV[${index + 1}]`;
    if (kind === "number") return `tonumber(${item})`;
    return kind === "flag" ? `${item} == '1'` : item;
  });
  return (
    formatLocals(
      keys,
      keys.map((_, index) => `KEYS[${index + 1}]`),
    ) +
    formatLocals(
      kinds.map(([argument]) => argument),
      taken,
    ) +
    constants.join("")
  );
}

function formatRow(fields: readonly string[], list: string, index: string, next: string | undefined): string {
  const items = fields.map((_, offset) => `${list}[${offset === 0 ? index : `${index} + ${offset}`}]`);
  const after = next === undefined ? "" : `local ${next} = ${index} + ${fields.length}\n`;
  return formatLocals(fields, items) + after;
}

function formatLocals(names: readonly string[], values: readonly string[]): string {
  return names.length === 0 ? "" : `local ${names.map(snakeCase).join(", ")} = ${values.join(", ")}\n`;
}

function formatNames(name: string): string | null {
  const names = NAMES[name];
  if (names === undefined) return null;
  const constant = name.replaceAll("-", "_").toUpperCase();
  return `local ${constant} = { ${names.map((one) => `'${one}'`).join(", ")} }\n`;
}

function formatFields(table: StoredSettings, before: readonly string[] = []): string {
  return [...before, ...admittedRows(table).map(([, row]) => row.field)]
    .map((field) => `'${field}'`)
    .join(", ");
}

function isRow(name: string): name is RowName {
  return name in ROWS;
}

/** Converts "keyRecord" to "key_record". */
function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Converts "keyRecord" to "key record". */
function inWords(name: string): string {
  return snakeCase(name).replaceAll("_", " ");
}
