import { findMembers } from "../json/object-spans.ts";
import { replaceMembers } from "../openai/whole-answer.ts";

/** New values for one object in an event. */
export interface Replacement {
  /** Member of the event that holds the object; null: the event itself. */
  readonly member: string | null;
  /** New values by key; missing keys are not added. */
  readonly values: Readonly<Record<string, unknown>>;
}

/**
 * Replaces values in an event; every other character stays.
 * @param text The event's lines.
 * @param data Its data as read by `parseEvent`, a JSON object.
 */
export function replaceValues(text: string, data: string, replacement: Replacement): string {
  const edited = editData(data, replacement);
  const start = text.lastIndexOf(data);
  if (start !== -1) return text.slice(0, start) + edited + text.slice(start + data.length);
  // JSON in several data lines: format them again, after the other lines.
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
  return replaceMembers({ text: json, members }, values);
}
