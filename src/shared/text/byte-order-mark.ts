const [FIRST, SECOND, THIRD] = [0xef, 0xbb, 0xbf];

/** Removes a byte order mark from the start of a UTF-8 text. */
export function withoutByteOrderMark<Bytes extends Uint8Array>(bytes: Bytes): Bytes {
  const isMarked = bytes[0] === FIRST && bytes[1] === SECOND && bytes[2] === THIRD;
  return isMarked ? (bytes.subarray(3) as Bytes) : bytes;
}
