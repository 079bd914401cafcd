/** Envoy's header messages ⇄ plain values. */
import type { HeaderMap__Output } from "./generated/envoy/config/core/v3/HeaderMap.ts";
import type { HeaderValue__Output } from "./generated/envoy/config/core/v3/HeaderValue.ts";
import type { HeaderValueOption } from "./generated/envoy/config/core/v3/HeaderValueOption.ts";
import { TextTable } from "./text-table.ts";

const VALUES = new TextTable("latin1");

/**
 * One header of an ext_proc header map, whose values arrive in `raw_value`, as bytes; one that occurs twice has its values
 * joined by a comma. The values of the others are not read: of the usual request's twenty it takes three.
 */
export function findHeader(map: HeaderMap__Output | undefined, name: string): string | undefined {
  let found: string | undefined;
  for (const header of map?.headers ?? []) if (header.key === name) found = join(found, header);
  return found;
}

function join(before: string | undefined, { value, raw_value }: HeaderValue__Output): string {
  const text =
    raw_value === undefined || raw_value.length === 0
      ? (value ?? "")
      : VALUES.read(raw_value, 0, raw_value.length);
  return before === undefined ? text : `${before},${text}`;
}

/** Names in a header map, in order, repeated ones included. */
export function namesOf(map: HeaderMap__Output | undefined): string[] {
  const names: string[] = [];
  for (const { key } of map?.headers ?? []) if (key !== undefined) names.push(key);
  return names;
}

/** A header for ext_proc replies, which read `raw_value` only. Replaces what is there. */
export function formatRawHeader(name: string, value: string): HeaderValueOption {
  return {
    header: { key: name, raw_value: Buffer.from(value, "latin1") },
    append_action: "OVERWRITE_IF_EXISTS_OR_ADD",
  };
}

/** A header for ext_authz replies, which read `value` only. Replaces what is there. */
export function formatTextHeader(name: string, value: string): HeaderValueOption {
  return { header: { key: name, value }, append_action: "OVERWRITE_IF_EXISTS_OR_ADD" };
}

/** Returns the text of a `:path` between its first question mark and its second one, or its end. */
export function queryOf(path = ""): string {
  const start = path.indexOf("?");
  if (start === -1) return "";
  const end = path.indexOf("?", start + 1);
  return end === -1 ? path.slice(start + 1) : path.slice(start + 1, end);
}
