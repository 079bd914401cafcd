/** Formats one organization, key, user or group for people: one line per field of its response. */
import type { Settings } from "../../../shared/settings/setting.ts";
import { nameTokenType } from "../../../shared/settings/token-limits.ts";
import type { Level, Screen } from "../terminal/screen.ts";
import { type Field, formatFields, type RecordColumn, showGiven } from "../terminal/table.ts";
import type { JsonObject } from "./admin-client.ts";
import { formatAmount } from "./option-values.ts";
import { showOwners } from "./owners.ts";
import { showSettings } from "./settings.ts";
import { describeState } from "../../../shared/settings/state.ts";

/** @param organization Organization of the record; null if the record is an organization. */
export function describeOwner(
  screen: Screen,
  settings: Settings,
  one: JsonObject,
  organization: JsonObject | null,
): string {
  const state = stateOf(one);
  // Users and groups have no `month`, and their amounts have no currency.
  const currency = one["month"] === undefined ? "" : String((organization ?? one)["currency"]);
  return formatFields(screen, [
    ["id", String(one["id"])],
    ...(organization === null
      ? []
      : [["organization", `${String(organization["name"])} (${String(organization["id"])})`] as const]),
    ["name", String(one["name"])],
    ...showGiven("key", one["display"]),
    ...(state === null ? [] : [["state", state.words, state.level] as const]),
    ...showOwners(one),
    ...showSettings(settings, one, currency, showFigures(one, currency)),
    ...showGiven("users", one["user_count"]),
    ...showGiven("keys", one["key_count"]),
    ["created", String(one["created_at"])],
    ...showGiven("previous key works until", one["former_key_until"]),
    ...showGiven("deleted", one["deleted_at"]),
  ]);
}

/** Formats what a key has left now, and the spend of a key or organization. */
function showFigures(one: JsonObject, currency: string): readonly Field[] {
  const bucket = one["bucket"] as JsonObject | undefined;
  const tokenBuckets = (one["token_buckets"] ?? []) as readonly JsonObject[];
  return [
    ...showGiven("requests left now", bucket && formatRemaining(bucket["remaining"], bucket["capacity"])),
    ...tokenBuckets.map(
      ({ type, remaining, limit }) =>
        [`${nameTokenType(String(type))} left now`, formatRemaining(remaining, limit)] as const,
    ),
    [`spent in ${String(one["month"])}`, formatAmount(one["spent_cents"], currency)],
  ];
}

/** Formats "57 of 60". */
function formatRemaining(remaining: unknown, capacity: unknown): string {
  return `${String(remaining)} of ${String(capacity)}`;
}

/**
 * Returns the state in an API response with its severity: keys and organizations have a state, users may be
 * disabled. Null for a group, which has no state.
 */
export function stateOf({
  state,
  disabled,
}: JsonObject): { readonly words: string; readonly level: Level } | null {
  if (state === undefined && disabled === undefined) return null;
  const { words, level } = describeState(
    typeof state === "string" ? state : disabled === true ? "disabled" : "active",
  );
  return { words, level: level === "off" ? "quiet" : level };
}

export const STATE_COLUMN: RecordColumn<JsonObject> = {
  header: "STATE",
  cell: (one) => stateOf(one)?.words,
  level: (one) => stateOf(one)?.level ?? null,
};
