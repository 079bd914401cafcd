/** What rows of usage are summed up under: the same in a chart, its legend and the table beneath. */
import type { UsageRowView } from "./views.ts";

export interface Grouping {
  readonly groupOf: (row: UsageRowView) => string;
  /** How people read a group. */
  readonly nameOf: (group: string) => string;
}

/** Of no key, of no model. */
const CORRECTIONS = "spend corrections";
/** Of an id, where a name alone would not tell two keys apart. */
const ID_END_LENGTH = 4;

/** @param names Key id → name, of all keys in the rows. */
export function groupByKey(names: ReadonlyMap<string, string>): Grouping {
  const all = [...names.values()];
  const isShared = (name: string): boolean => all.indexOf(name) !== all.lastIndexOf(name);
  return {
    groupOf: (row) => row.key_id ?? "",
    nameOf: (id) => {
      if (id === "") return CORRECTIONS;
      const name = names.get(id) ?? id;
      return isShared(name) ? `${name} (…${id.slice(-ID_END_LENGTH)})` : name;
    },
  };
}

export const GROUP_BY_MODEL: Grouping = {
  groupOf: (row) => row.model ?? "",
  nameOf: (model) => (model === "" ? CORRECTIONS : model),
};

/** By the values of a tag. */
export function groupByTag(tag: string): Grouping {
  return {
    groupOf: (row) => row.tags?.[tag] ?? "",
    nameOf: (value) => (value === "" ? `without ${tag}` : value),
  };
}
