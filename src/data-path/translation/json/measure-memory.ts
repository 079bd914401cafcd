/** Upper estimates of the memory of a parsed body, for a worker's memory budget. */
import type { MemberSpan } from "./object-spans.ts";
import type { JsonBody } from "./parse-body.ts";

/** Bytes per character of a text that is not pure ASCII. */
const BYTES_PER_CHARACTER = 2;
/** A parsed body exists twice: as its text, and as the strings in its value. */
const COPIES = 2;

/** Bytes of a parsed body in addition to the received bytes: its text and its value. */
export function measureParsed({ text, bytes }: Pick<JsonBody, "text" | "bytes">): number {
  const isAscii = bytes !== null && bytes.length === text.length;
  return text.length * COPIES * (isAscii ? 1 : BYTES_PER_CHARACTER);
}

/** Bytes of a text assembled from a body. */
export function measureText(text: string): number {
  return text.length * BYTES_PER_CHARACTER;
}

/** Bytes of the parsed values of these fields. */
export function measureFields({ members }: Pick<JsonBody, "members">, names: ReadonlySet<string>): number {
  return measure(members.filter(({ key }) => names.has(key)));
}

/** Bytes of the parsed values of all other fields. */
export function measureOtherFields(
  { members }: Pick<JsonBody, "members">,
  names: ReadonlySet<string>,
): number {
  return measure(members.filter(({ key }) => !names.has(key)));
}

function measure(members: readonly MemberSpan[]): number {
  let characters = 0;
  for (const { valueStart, valueEnd } of members) characters += valueEnd - valueStart;
  return characters * BYTES_PER_CHARACTER;
}
