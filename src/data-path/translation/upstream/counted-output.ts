/** More fields than this of one output count together. */
const MAX_FIELDS = 256;
const OTHERS = "";
/** The most characters of a called tool's name that are compared. */
const MAX_NAME = 1_024;

/** A part of an item has a number. */
export type FieldName = string | number;

/** The fields that hold the same text: the longest of them counts. */
interface Text {
  bytes: number;
}

interface Field {
  bytes: number;
  readonly text: Text;
}

/**
 * Counts the bytes that were generated of one output, a choice or an item: each text once, whether it comes in pieces,
 * whole at the end or both, and in however many fields. Every function that is given bytes returns how many are new.
 */
export class CountedOutput {
  /** Some of it came in pieces: what comes whole repeats them. */
  hasPieces = false;
  /** Made for the first call. */
  #calledNames: Map<unknown, string> | null = null;
  readonly #fields = new Map<FieldName, Field>();
  /** The sum of its texts. */
  #told = 0;
  #counted = 0;
  #media = 0;

  /** What has counted so far. */
  get bytes(): number {
    return this.#counted;
  }

  /** A piece goes on with the field. @param sameAs The field whose text it repeats. */
  addPiece(name: FieldName, bytes: number, sameAs: FieldName = name): number {
    const field = this.#fieldOf(name, sameAs);
    return this.#set(field, field.bytes + bytes);
  }

  /** The whole field, of which pieces may have come. */
  readField(name: FieldName, bytes: number): number {
    const field = this.#fieldOf(name, name);
    return bytes > field.bytes ? this.#set(field, bytes) : 0;
  }

  /** Whether a piece of a call repeats its name, as some servers do with every piece; other pieces of it are added. */
  repeatsName(call: unknown, piece: string): boolean {
    const names = (this.#calledNames ??= new Map<unknown, string>());
    const told = names.get(call) ?? "";
    if (piece === told) return true;
    if (names.size < MAX_FIELDS) names.set(call, (told + piece).slice(0, MAX_NAME));
    return false;
  }

  /** The whole output, of which pieces and fields may have come. */
  readWhole(bytes: number): number {
    const added = Math.max(0, bytes - this.#counted);
    this.#counted += added;
    return added;
  }

  /** Output that is no text. @returns whether some of it is new. */
  addMedia(count: number): boolean {
    this.#media += count;
    return count > 0;
  }

  /** All of the output's. */
  readMedia(count: number): boolean {
    return this.addMedia(Math.max(0, count - this.#media));
  }

  #fieldOf(name: FieldName, sameAs: FieldName): Field {
    const known = this.#fields.get(name);
    if (known !== undefined) return known;
    if (this.#fields.size >= MAX_FIELDS && name !== OTHERS) return this.#fieldOf(OTHERS, OTHERS);
    const text = name === sameAs ? { bytes: 0 } : this.#fieldOf(sameAs, sameAs).text;
    const field = { bytes: 0, text };
    this.#fields.set(name, field);
    return field;
  }

  #set(field: Field, bytes: number): number {
    const { text } = field;
    field.bytes = bytes;
    if (bytes <= text.bytes) return 0;
    this.#told += bytes - text.bytes;
    text.bytes = bytes;
    return this.readWhole(this.#told);
  }
}
