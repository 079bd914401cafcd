/** The settings in the reply of an admission, read by their tables. */
import type { AdmittedOf, StoredSettings } from "../../settings/setting.ts";
import { admittedRows } from "../../settings/table.ts";
import { setBounded } from "../../set-bounded.ts";
import { textAt } from "../redis/parse-reply.ts";

/** Values that are JSON in Redis, by their text: read once and not with every request. Most keys have none. */
const MAX_KNOWN_VALUES = 500;

type Parse = (text: string) => unknown;

/**
 * @param first Where the first of them stands in the reply; '' there: the default.
 * @returns A reader, which throws what the kinds throw when a text is none that this program writes.
 */
export function createSettingsReader<Table extends StoredSettings>(
  table: Table,
  first: number,
): (reply: readonly unknown[]) => AdmittedOf<Table> {
  const readers = admittedRows(table).map(([name, row], index) => ({
    name,
    position: first + index,
    none: row.default,
    parse: remember((text) => row.kind.parse(text)),
  }));
  return (reply) => {
    const settings: Record<string, unknown> = {};
    for (const { name, position, none, parse } of readers) {
      const text = textAt(reply, position);
      settings[name] = text === "" && none !== undefined ? none : parse(text);
    }
    // Each row's kind made its value, which a loop over the rows hides from TypeScript.
    return settings as AdmittedOf<Table>;
  };
}

function remember(parse: Parse): Parse {
  const known = new Map<string, unknown>();
  return (text) => {
    if (!/^[[{]/.test(text)) return parse(text);
    if (known.has(text)) return known.get(text);
    const value = parse(text);
    setBounded(known, text, value, MAX_KNOWN_VALUES);
    return value;
  };
}
