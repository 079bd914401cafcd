import { describeState } from "../../../shared/settings/state.ts";
import type { Level } from "../terminal/screen.ts";
import type { RecordColumn } from "../terminal/table.ts";
import type { JsonObject } from "./admin-client.ts";

/**
 * What something is in, from an answer of the API, and how it is to be looked at: a key or an organization has a state,
 * a user is disabled or is not. Null for a group, which is in none.
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
