/** How much memory a body that was read takes, for the budget of a worker: estimates from above. */
import type { MemberSpan } from "./object-spans.ts";
import type { JsonBody } from "./parse-body.ts";

/** A text that is not ASCII alone has two bytes a character. */
const BYTES_PER_CHARACTER = 2;
/** Parsed, it is there twice: as its text, and as the strings in it. */
const COPIES = 2;

/** What it takes beside the bytes that came: its text, and all that was parsed of it. */
export function measureParsed({ text, bytes }: Pick<JsonBody, "text" | "bytes">): number {
  const isAscii = bytes !== null && bytes.length === text.length;
  return text.length * COPIES * (isAscii ? 1 : BYTES_PER_CHARACTER);
}

/** What a text takes that was put together of it. */
export function measureText(text: string): number {
  return text.length * BYTES_PER_CHARACTER;
}

/** What some of its fields take, parsed. */
export function measureFields({ members }: Pick<JsonBody, "members">, names: ReadonlySet<string>): number {
  return measure(members.filter(({ key }) => names.has(key)));
}

/** What all of its fields but these take, parsed. */
export function measureFieldsBeside(
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
