import { describeState } from "../../settings/state.ts";
import type { Level } from "../terminal/screen.ts";
import type { RecordColumn } from "../terminal/table.ts";
import type { JsonObject } from "./admin-client.ts";

/** What a key or an organization is in, from an answer of the API, and how it is to be looked at. */
export function stateOf({ state }: JsonObject): { readonly words: string; readonly level: Level } {
  const { words, level } = describeState(String(state));
  return { words, level: level === "off" ? "quiet" : level };
}

export const STATE_COLUMN: RecordColumn<JsonObject> = {
  header: "STATE",
  cell: (one) => stateOf(one).words,
  level: (one) => stateOf(one).level,
};
