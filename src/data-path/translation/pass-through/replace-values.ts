import { formatJson } from "../json/exact-json.ts";
import { applyEdits, findMembers } from "../json/object-spans.ts";

/** Values of one object in an event that the client gets in place of the upstream's. */
export interface Replacement {
  /** The member of the event that the object is; null: the event itself. */
  readonly member: string | null;
  /** The new values by their keys; what the object has not is not added. */
  readonly values: Readonly<Record<string, unknown>>;
}

/**
 * An event with other values; every other character stays.
 * @param text The event's lines.
 * @param data Its data, as `parseEvent` reads them, a JSON object.
 */
export function replaceValues(text: string, data: string, replacement: Replacement): string {
  const edited = editData(data, replacement);
  const start = text.lastIndexOf(data);
  if (start !== -1) return text.slice(0, start) + edited + text.slice(start + data.length);
  // JSON that came in several data lines: they are written anew, and the other lines stay before them.
  const others = text.split(/\r\n|\r|\n/).filter((line) => line !== "" && !line.startsWith("data:"));
  return `${[...others, ...edited.split("\n").map((line) => `data: ${line}`)].join("\n")}\n\n`;
}

function editData(json: string, { member, values }: Replacement): string {
  const outer = findMembers(json) ?? [];
  const members =
    member === null
      ? outer
      : outer
          .filter(({ key }) => key === member)
          .flatMap(({ valueStart }) => findMembers(json, valueStart) ?? []);
  const edits = members
    .filter(({ key }) => Object.hasOwn(values, key))
    .map(({ key, valueStart, valueEnd }) => ({
      start: valueStart,
      end: valueEnd,
      replacement: formatJson(values[key]),
    }));
  return applyEdits(json, edits);
}
