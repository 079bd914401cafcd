import type { Edit } from "./object-spans.ts";

/**
 * Applies edits of a text to its bytes. Edits must be sorted and must not overlap. Copies everything except the edited
 * values once, without encoding a large body again.
 * @param text The text of the bytes, which are UTF-8.
 */
export function editBytes(bytes: Buffer, text: string, edits: readonly Edit[]): Buffer {
  const isOneByteEach = bytes.length === text.length;
  let characters = 0;
  let offset = 0;
  const offsetOf = (index: number): number => {
    offset += isOneByteEach ? index - characters : Buffer.byteLength(text.slice(characters, index));
    characters = index;
    return offset;
  };
  const pieces: Buffer[] = [];
  let copied = 0;
  for (const { start, end, replacement } of edits) {
    pieces.push(bytes.subarray(copied, offsetOf(start)), Buffer.from(replacement, "utf8"));
    copied = offsetOf(end);
  }
  pieces.push(bytes.subarray(copied));
  return Buffer.concat(pieces);
}
