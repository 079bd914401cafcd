const COLON = 0x3a;
const OPENING_BRACE = 0x7b;
const SPACE = 0x20;
/** Member of the bare JSON object that some servers write when they fail in mid-stream. */
export const ERROR_MEMBER = '"error"';

export interface SseField {
  readonly name: string;
  /** Offset of the value, after one optional space. The value ends with the line. */
  readonly valueStart: number;
}

/** Field of nearly every line of a stream. */
const DATA = Buffer.from("data:");

function isData(bytes: Buffer, start: number, end: number): boolean {
  if (end - start < DATA.length) return false;
  for (let index = 0; index < DATA.length; index += 1) {
    if (bytes[start + index] !== DATA[index]) return false;
  }
  return true;
}

/** Returns whether a non-empty line is a comment. */
export function isComment(bytes: Buffer, start: number): boolean {
  return bytes[start] === COLON;
}

/**
 * Parses the field of a line that is neither empty nor a comment. A line without a colon is a field without a value. A
 * line that is a JSON object with an error is data: servers that fail in mid-stream write one without a field name.
 */
export function readField(bytes: Buffer, start: number, end: number): SseField {
  if (isData(bytes, start, end)) {
    const valueStart = start + DATA.length;
    return {
      name: "data",
      valueStart: valueStart < end && bytes[valueStart] === SPACE ? valueStart + 1 : valueStart,
    };
  }
  if (bytes[start] === OPENING_BRACE && bytes.subarray(start, end).includes(ERROR_MEMBER)) {
    return { name: "data", valueStart: start };
  }
  // Not indexOf, which would scan all following lines if this one has no colon.
  let nameEnd = start;
  while (nameEnd < end && bytes[nameEnd] !== COLON) nameEnd += 1;
  let valueStart = Math.min(nameEnd + 1, end);
  if (valueStart < end && bytes[valueStart] === SPACE) valueStart += 1;
  return { name: bytes.toString("latin1", start, nameEnd), valueStart };
}
