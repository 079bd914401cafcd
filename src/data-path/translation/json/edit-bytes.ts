import type { Edit } from "./object-spans.ts";

/**
 * The bytes of a text with these edits of the text made, which must be in order and must not overlap. Of a large body all
 * but the edited values is copied once, not made a string and encoded again.
 * @param text What the bytes are in UTF-8.
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
