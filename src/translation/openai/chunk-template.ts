/**
 * The chunks of one stream are alike but for a piece of text: what stands before and after it is the same bytes. Once one
 * chunk was parsed and rewritten, those that differ from it in that text alone are recognised by comparing, and neither
 * parsed nor searched.
 */
import { isJsonObject, type JsonObject } from "../../json-object.ts";
import { skipString } from "../json/object-spans.ts";

/** Stands for the text while a template is made. A chunk that holds it elsewhere gets no template. */
const MARK = "igw:text:9b1f6a0c";
const QUOTE = 0x22;
/** What a JSON string holds as it is. */
// oxlint-disable-next-line no-control-regex -- JSON forbids them in a string
const PLAIN = /^[^"\\\u0000-\u001f]*$/;

export interface TemplateOptions {
  /** A chunk that was read, with one choice, no usage and no finish reason. */
  readonly text: string;
  /** Member of the choice, or of its delta, that holds the text. */
  readonly textKey: string;
  /** What a chunk's choice adds to its answer. */
  readonly readDelta: (choice: JsonObject) => unknown;
  /** The chunk as the client gets it. */
  readonly rewrite: (text: string) => string;
}

export interface TemplateMatch {
  /** What this chunk adds to the answer. */
  readonly content: string;
  /** The chunk as the client gets it. */
  readonly output: string;
}

export class ChunkTemplate {
  readonly #before: string;
  readonly #after: string;
  readonly #outputBefore: string;
  readonly #outputAfter: string;

  private constructor(before: string, after: string, outputBefore: string, outputAfter: string) {
    this.#before = before;
    this.#after = after;
    this.#outputBefore = outputBefore;
    this.#outputAfter = outputAfter;
  }

  /** Null where the text's place is not plain to see: such chunks are parsed. */
  static create({ text, textKey, readDelta, rewrite }: TemplateOptions): ChunkTemplate | null {
    const key = `"${textKey}":`;
    const at = text.indexOf(key);
    if (at === -1) return null;
    let quote = at + key.length;
    if (text[quote] === " ") quote += 1;
    if (text.charCodeAt(quote) !== QUOTE) return null;
    const before = text.slice(0, quote + 1);
    const after = text.slice(skipString(text, quote) - 1);
    const marked = before + MARK + after;
    if (!isOnlyText(marked, readDelta)) return null;
    const [outputBefore, outputAfter, ...more] = rewrite(marked).split(MARK);
    if (outputBefore === undefined || outputAfter === undefined || more.length > 0) return null;
    return new ChunkTemplate(before, after, outputBefore, outputAfter);
  }

  /** Null when the chunk differs from the template in more than its text. */
  match(text: string): TemplateMatch | null {
    const [before, after] = [this.#before, this.#after];
    if (text.length < before.length + after.length) return null;
    if (!text.startsWith(before) || !text.endsWith(after)) return null;
    const escaped = text.slice(before.length, text.length - after.length);
    const content = PLAIN.test(escaped) ? escaped : parseString(escaped);
    if (content === null) return null;
    return { content, output: this.#outputBefore + escaped + this.#outputAfter };
  }
}

/** Whether the mark is all that such a chunk adds to the answer. */
function isOnlyText(marked: string, readDelta: (choice: JsonObject) => unknown): boolean {
  let chunk: unknown;
  try {
    chunk = JSON.parse(marked);
  } catch {
    return false;
  }
  const choices = isJsonObject(chunk) ? chunk["choices"] : null;
  const [choice, ...others] = Array.isArray(choices) ? (choices as unknown[]) : [];
  if (!isJsonObject(choice) || others.length > 0) return false;
  const delta = readDelta(choice);
  if (!isJsonObject(delta)) return false;
  return Object.entries(delta).every(([name, value]) =>
    name === "content" ? value === MARK : value === null || name === "role",
  );
}

/** Null when it is not the inside of one JSON string. */
function parseString(escaped: string): string | null {
  try {
    const value: unknown = JSON.parse(`"${escaped}"`);
    return typeof value === "string" ? value : null;
  } catch {
    return null;
  }
}
