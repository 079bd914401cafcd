/**
 * HPACK (RFC 7541): full decoding, stateless encoding. Our SETTINGS ask the peer to use no dynamic table, but
 * it may use one until it has read them.
 */
import { ConnectionError, ERROR } from "./frames.ts";
import { decodeHuffman } from "./huffman.ts";
import { STATIC_TABLE } from "./static-table.ts";

export type HeaderField = readonly [name: string, value: string];

/** Table size that the peer may use until our SETTINGS are in force. */
const INITIAL_TABLE_BYTES = 4_096;
/** RFC 7541, section 4.1: size of an entry in addition to its name and value. */
const ENTRY_OVERHEAD_BYTES = 32;
/** No acceptable length or index needs more: five bytes after the prefix already exceed 32 bits. */
const MAX_INTEGER_BYTES = 4;

/** Decoded block of headers. */
export interface HeaderBlock {
  readonly fields: readonly HeaderField[];
  /** True if the list exceeds its limit and fields are missing. */
  readonly isTooLarge: boolean;
  /** True if the same bytes always have the same meaning: they neither use nor change the table. */
  readonly isStateless: boolean;
}

/** Decodes the header blocks of one connection, in order of arrival. */
export class HpackDecoder {
  readonly #maxListBytes: number;
  /** Dynamic table, newest entry first. */
  readonly #table: HeaderField[] = [];
  #tableBytes = 0;
  /** Table size that the peer has chosen, within its limit. */
  #maxTableBytes = INITIAL_TABLE_BYTES;
  #allowedTableBytes = INITIAL_TABLE_BYTES;
  #bytes: Buffer = Buffer.alloc(0);
  #at = 0;
  #end = 0;
  #isStateless = true;

  constructor(maxListBytes: number) {
    this.#maxListBytes = maxListBytes;
  }

  /** Sets the limit of the table after the peer has acknowledged it. */
  allowTable(bytes: number): void {
    this.#allowedTableBytes = bytes;
    if (this.#maxTableBytes > bytes) this.#resizeTable(bytes);
  }

  /** @throws ConnectionError COMPRESSION_ERROR if the bytes are not a header block. */
  decode(bytes: Buffer, start: number, end: number): HeaderBlock {
    this.#bytes = bytes;
    this.#at = start;
    this.#end = end;
    this.#isStateless = true;
    const fields: HeaderField[] = [];
    let listBytes = 0;
    while (this.#at < end) {
      const first = bytes[this.#at] ?? 0;
      if ((first & 0xe0) === 0x20) {
        if (fields.length > 0) throw invalid("a table size update after a field");
        this.#readTableSize();
        continue;
      }
      const field = this.#readField(first);
      listBytes += sizeOf(field);
      // Decode to the end even then, since the table must stay in sync with the peer's.
      if (listBytes <= this.#maxListBytes) fields.push(field);
    }
    this.#bytes = Buffer.alloc(0);
    return { fields, isTooLarge: listBytes > this.#maxListBytes, isStateless: this.#isStateless };
  }

  #readField(first: number): HeaderField {
    if ((first & 0x80) !== 0) return this.#fieldAt(this.#readInteger(7));
    const isIndexed = (first & 0x40) !== 0;
    const index = this.#readInteger(isIndexed ? 6 : 4);
    const name = index === 0 ? this.#readText() : this.#fieldAt(index)[0];
    const field = [name, this.#readText()] as const;
    if (isIndexed) this.#addToTable(field);
    return field;
  }

  #fieldAt(index: number): HeaderField {
    const ofStatic = STATIC_TABLE[index - 1];
    if (ofStatic !== undefined) return ofStatic;
    this.#isStateless = false;
    const field = this.#table[index - 1 - STATIC_TABLE.length];
    if (field === undefined) throw invalid(`there is no field ${index}`);
    return field;
  }

  #readTableSize(): void {
    const bytes = this.#readInteger(5);
    if (bytes > this.#allowedTableBytes) throw invalid(`a table of ${bytes} bytes`);
    this.#isStateless = false;
    this.#resizeTable(bytes);
  }

  #resizeTable(bytes: number): void {
    this.#maxTableBytes = bytes;
    this.#evict();
  }

  #addToTable(field: HeaderField): void {
    this.#isStateless = false;
    this.#table.unshift(field);
    this.#tableBytes += sizeOf(field);
    this.#evict();
  }

  #evict(): void {
    while (this.#tableBytes > this.#maxTableBytes) {
      const oldest = this.#table.pop();
      if (oldest === undefined) return;
      this.#tableBytes -= sizeOf(oldest);
    }
  }

  /** Reads an integer by RFC 7541, section 5.1. */
  #readInteger(prefixBits: number): number {
    const mask = (1 << prefixBits) - 1;
    let value = this.#readByte() & mask;
    if (value < mask) return value;
    for (let count = 0; count < MAX_INTEGER_BYTES; count += 1) {
      const byte = this.#readByte();
      value += (byte & 0x7f) * 2 ** (7 * count);
      if ((byte & 0x80) === 0) return value;
    }
    throw invalid("an integer out of bounds");
  }

  #readText(): string {
    const isHuffman = ((this.#bytes[this.#at] ?? 0) & 0x80) !== 0;
    const length = this.#readInteger(7);
    const start = this.#at;
    if (length > this.#end - start) throw invalid("a text beyond the end of its block");
    this.#at = start + length;
    if (!isHuffman) return this.#bytes.toString("latin1", start, this.#at);
    const text = decodeHuffman(this.#bytes, start, this.#at);
    if (text === null) throw invalid("a text that is not of the Huffman code");
    return text;
  }

  #readByte(): number {
    if (this.#at >= this.#end) throw invalid("a block that ends within a field");
    const byte = this.#bytes[this.#at] ?? 0;
    this.#at += 1;
    return byte;
  }
}

function sizeOf([name, value]: HeaderField): number {
  return name.length + value.length + ENTRY_OVERHEAD_BYTES;
}

function invalid(problem: string): ConnectionError {
  return new ConnectionError(ERROR.compressionError, `the headers hold ${problem}`);
}

/** Encodes fields for every decoder, whatever its state: as literals that are not added to a table. */
export function encodeHeaderBlock(fields: readonly HeaderField[]): Buffer {
  return Buffer.concat(
    fields.flatMap(([name, value]) => [Buffer.from([0]), formatText(name), formatText(value)]),
  );
}

function formatText(text: string): Buffer {
  const bytes = Buffer.from(text, "latin1");
  return Buffer.concat([formatInteger(bytes.length, 7), bytes]);
}

function formatInteger(value: number, prefixBits: number): Buffer {
  const mask = (1 << prefixBits) - 1;
  if (value < mask) return Buffer.from([value]);
  const bytes = [mask];
  let rest = value - mask;
  for (; rest >= 0x80; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  return Buffer.from([...bytes, rest]);
}
