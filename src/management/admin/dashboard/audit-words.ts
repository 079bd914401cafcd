/** Words of the audit log: what was done, and what changed. The API has names of actions, fields and choices. */
import { formatCount, formatLimit, formatMoney, formatTime, spellOut } from "../format.ts";
import { isGroup } from "../../../shared/settings/group.ts";
import { KEY_SETTINGS } from "../../../shared/settings/key.ts";
import { formatLimitRows, type Limit } from "../../../shared/settings/limits.ts";
import { ORGANIZATION_SETTINGS } from "../../../shared/settings/organization.ts";
import type { Setting } from "../../../shared/settings/setting.ts";
import { capitalize } from "../../../shared/text/capitalize.ts";
import { ALERT_LABELS, FORMAT_LABELS } from "./parts/webhook.tsx";
import type { AuditPageView } from "./views.ts";

type AuditedChange = Pick<AuditPageView["data"][number], "before" | "after" | "target" | "names">;

/** Names of what is changed, if they differ from the API's. */
const TARGETS: Readonly<Record<string, string>> = {
  key: "API key",
  keys: "all API keys",
  raise: "temporary increase",
};
/** Words for what is done, if they differ from the API's. */
const DEEDS: Readonly<Record<string, string>> = {
  updated: "changed",
  revoked: "ended",
  rotated: "secret rotated",
};

/** Formats "API key changed" for "key.updated". */
export function describeAction(action: string): string {
  const [target = "", deed = ""] = action.split(".");
  const done = action === "keys.revoked" ? "deleted" : (DEEDS[deed] ?? spellOut(deed));
  return capitalize(`${TARGETS[target] ?? spellOut(target)} ${done}`);
}

/** Formats "hard cap: none → 40.00 USD", a line for each changed field, including nested ones. */
export function describeChanges(
  { before, after, target, names: byId }: AuditedChange,
  currency: string,
): string[] {
  const owners = new Map(Object.entries(byId));
  const was = flatten(before);
  const is = flatten(after);
  const isTarget = (name: string): boolean => name === "key_id" && target.name !== null;
  const names = [...new Set([...was.keys(), ...is.keys()])].filter(
    (name) => keyOf(name, was.get(name)) !== keyOf(name, is.get(name)) && !isTarget(name),
  );
  return names.map((name) => {
    const format = (value: unknown) => owners.get(String(value)) ?? formatValue(name, value, currency);
    const from = before === null ? "" : `${format(was.get(name))} → `;
    const to = after === null ? "gone" : format(is.get(name));
    const isNamed = [was.get(name), is.get(name)].some((value) => owners.has(String(value)));
    const label = isNamed ? name.replace(/_id$/, "") : name;
    return `${spellOut(label).replace(/ (?:micro)?cents$/, "")}: ${from}${to}`;
  });
}

/** Settings that are on by default. */
const BEGINS_ON: ReadonlySet<string> = new Set(["notifications.dashboard"]);

/** Normalizes a value for comparison: missing, default and empty values are the same. */
function keyOf(name: string, value: unknown): string {
  const isOff = value === false && !BEGINS_ON.has(name);
  const isNothing = value === undefined || isOff || (Array.isArray(value) && value.length === 0);
  return JSON.stringify(isNothing ? null : value);
}

function flatten(fields: unknown, path = ""): Map<string, unknown> {
  if (typeof fields !== "object" || fields === null) return new Map();
  return new Map(
    Object.entries(fields).flatMap(([name, value]: [string, unknown]) => {
      const full = `${path}${name}`;
      const isGroup = typeof value === "object" && value !== null && !Array.isArray(value);
      const own: [string, unknown][] = [[full, value]];
      return isGroup ? [...flatten(value, `${full}.`)] : own;
    }),
  );
}

/** Settings that restrict nothing if they are not set. */
const MEANS_ALL: ReadonlySet<string> = new Set(["allowed_models", "key_defaults.allowed_models"]);

function formatValue(name: string, value: unknown, currency: string): string {
  if (value === null || value === undefined) return MEANS_ALL.has(name) ? "all" : "none";
  if (typeof value === "number" && name.endsWith("_microcents")) return formatMoney(value, currency);
  if (typeof value === "number" && name.endsWith("_cents")) return formatLimit(value, currency);
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "number") return formatCount(value);
  if (!Array.isArray(value)) return formatItem(name, value, currency);
  // Free names of a setting, such as an alias "limits", come here too, with another value.
  if (LIMITS.test(name)) return formatLimitRows(value as readonly Limit[]).join(", ") || "none";
  return value.map((item) => formatItem(name, item, currency)).join(", ") || "none";
}

const LIMITS = /(?:^|[._])limits$/;
const TIME = /^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/;

/** Formats one value, or one of a list: "format slack, alerts hard cap reached". */
function formatItem(name: string, value: unknown, currency: string): string {
  if (typeof value === "object" && value !== null) {
    return Object.entries(value)
      .filter(([, member]) => member !== null)
      .map(([member, own]) => `${spellOut(member)} ${formatValue(member, own, currency)}`)
      .join(", ");
  }
  const text = String(value);
  if (TIME.test(text)) return formatTime(text);
  const words = CHOICES.get(name.slice(name.lastIndexOf(".") + 1)) ?? {};
  return Object.hasOwn(words, text) ? String(words[text]) : text;
}

/** Words of choices, by the field's name in the API. */
const CHOICES = new Map<string, Readonly<Record<string, string>>>([
  ...[...Object.values(ORGANIZATION_SETTINGS), ...Object.values(KEY_SETTINGS)]
    .flatMap((row: Setting) => (isGroup(row.kind) ? Object.values(row.kind.members) : [row]))
    .flatMap(({ apiName, choices }) => (choices === undefined ? [] : [[apiName, choices] as const])),
  ["alerts", ALERT_LABELS],
  ["format", FORMAT_LABELS],
]);
