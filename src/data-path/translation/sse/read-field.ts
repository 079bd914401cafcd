const COLON = 0x3a;
const OPENING_BRACE = 0x7b;
const SPACE = 0x20;
/** The member of the object that servers write as it is where they fail. */
export const ERROR_MEMBER = '"error"';

/** A line of an event stream that is neither empty nor a comment. */
export interface SseField {
  readonly name: string;
  /** Where its value begins; it ends with the line. One space after the colon is not part of it. */
  readonly valueStart: number;
}

/** Nearly every line of a stream. */
const DATA = Buffer.from("data:");

function isData(bytes: Buffer, start: number, end: number): boolean {
  if (end - start < DATA.length) return false;
  for (let index = 0; index < DATA.length; index += 1) {
    if (bytes[start + index] !== DATA[index]) return false;
  }
  return true;
}

/** Whether the line is a comment; it is not empty. */
export function isComment(bytes: Buffer, start: number): boolean {
  return bytes[start] === COLON;
}

/**
 * Reads a line's field; a line without a colon is a field without a value. A line that is a JSON object with an error in
 * it is data: servers that fail in mid-stream write one as it is.
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
  // Not indexOf, which would look through all lines that follow when this one has no colon.
  let nameEnd = start;
  while (nameEnd < end && bytes[nameEnd] !== COLON) nameEnd += 1;
  let valueStart = Math.min(nameEnd + 1, end);
  if (valueStart < end && bytes[valueStart] === SPACE) valueStart += 1;
  return { name: bytes.toString("latin1", start, nameEnd), valueStart };
}
