/** Conversion of Envoy's header messages from and to plain values. */
import { TextTable } from "./text-table.ts";
import type { Message } from "./messages.ts";

const VALUES = new TextTable("latin1");

/**
 * Returns one header of an ext_proc header map, whose values are bytes in `raw_value`; repeated values are
 * joined by commas. Other values are not decoded: typical requests have twenty headers, of which three are
 * needed.
 */
export function findHeader(map: Message<"HeaderMap"> | undefined, name: string): string | undefined {
  let found: string | undefined;
  for (const header of map?.headers ?? []) if (header.key === name) found = join(found, header);
  return found;
}

function join(before: string | undefined, { value, raw_value }: Message<"HeaderValue">): string {
  const text =
    raw_value === undefined || raw_value.length === 0
      ? (value ?? "")
      : VALUES.read(raw_value, 0, raw_value.length);
  return before === undefined ? text : `${before},${text}`;
}

/** Returns all headers; repeated values are joined by commas. */
export function recordOf(map: Message<"HeaderMap"> | undefined): Record<string, string> {
  const record: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const header of map?.headers ?? []) {
    if (header.key !== undefined) record[header.key] = join(record[header.key], header);
  }
  return record;
}

/** Lists the names in a header map in order, with repetitions. */
export function namesOf(map: Message<"HeaderMap"> | undefined): string[] {
  const names: string[] = [];
  for (const { key } of map?.headers ?? []) if (key !== undefined) names.push(key);
  return names;
}

/** Formats a header for ext_proc replies, which only read `raw_value`. Replaces an existing value. */
export function formatRawHeader(name: string, value: string): Message<"HeaderValueOption"> {
  return {
    header: { key: name, raw_value: Buffer.from(value, "latin1") },
    append_action: "OVERWRITE_IF_EXISTS_OR_ADD",
  };
}

/** Formats a header for ext_authz replies, which only read `value`. Replaces an existing value. */
export function formatTextHeader(name: string, value: string): Message<"HeaderValueOption"> {
  return { header: { key: name, value }, append_action: "OVERWRITE_IF_EXISTS_OR_ADD" };
}

/** Returns the text of a `:path` between its first question mark and its second one, or its end. */
export function queryOf(path = ""): string {
  const start = path.indexOf("?");
  if (start === -1) return "";
  const end = path.indexOf("?", start + 1);
  return end === -1 ? path.slice(start + 1) : path.slice(start + 1, end);
}
