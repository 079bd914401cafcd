import { isJsonObject, type JsonObject, toArray } from "../../../shared/text/json-object.ts";
import { TextBuffer } from "../text-buffer.ts";
import { CountedOutput, type FieldName } from "./counted-output.ts";
import { findGenerated, type Generated, mayHaveText } from "./find-generated.ts";
import { REASONING_TEXTS } from "./read-message.ts";
import { ServerToolUses } from "./server-tool-uses.ts";

/** Most text that is kept for a tokenizer, which is used if an upstream reports no usage. */
const MAX_TEXT_BYTES = 1_048_576;
/** Further choices or items count as one. */
const MAX_OUTPUTS = 1_024;
const FURTHER_OUTPUTS = Symbol("others");

/** Fields of chat completions that repeat each other's text; every other field has a text of its own. */
const SAME_TEXTS: ReadonlyMap<string, string> = new Map([
  ["text", "content"],
  ...REASONING_TEXTS.map((name) => [name, "reasoning"] as const),
  ["reasoning_details", "reasoning"],
  ["thinking_blocks", "reasoning"],
  // Copies made by LiteLLM.
  ["provider_specific_fields", "reasoning"],
]);

/** Members that hold the answer in other protocols. */
const ANSWER_MEMBERS: ReadonlySet<string> = new Set([
  "choices",
  "message",
  "delta",
  "content",
  "text",
  "reasoning",
  "response",
  "output",
  "output_text",
  "completion",
  "candidates",
]);

type AddWhole = (output: CountedOutput, bytes: number) => number;
const addWhole: AddWhole = (output, bytes) => output.readWhole(bytes);

/** Collects the output of an upstream, counting each text once. */
export abstract class GeneratedOutput {
  generatedBytes = 0;
  generatedDeltas = 0;
  /** Uses of tools that the model server ran. */
  readonly tools = new ServerToolUses();
  readonly #text = new TextBuffer({ maxBytes: MAX_TEXT_BYTES });
  #isTextFull = false;
  readonly #outputs = new Map<unknown, CountedOutput>();
  /** Bytes that belong to a known output; the others belong to an unknown one. */
  #placedBytes = 0;

  get generatedText(): string {
    return this.#text.toString();
  }

  /** Called with the number of new pieces of the answer. */
  protected abstract addPieces(count: number): void;

  /** Reads a chunk that consists of this text only, of any choice. */
  readText(text: string): void {
    if (text === "") return;
    this.#append(text);
    this.addPieces(1);
  }

  /**
   * Reads the texts of many chunks at once.
   * @param bytes Their UTF-8, one character per byte.
   * @param pieces Number of texts that are not empty.
   */
  readCharacters(bytes: string, pieces: number): void {
    if (pieces === 0) return;
    this.generatedBytes += bytes.length;
    this.addPieces(pieces);
    if (!this.#isTextFull) this.#isTextFull = !this.#text.append(bytes, "latin1");
  }

  /** Reads the choices of a chunk or a whole completion. */
  readChoices(choices: unknown): void {
    toArray(choices).forEach((choice, place) => {
      if (isJsonObject(choice)) this.readChoice(choice, place);
    });
  }

  /** @param place Position among the choices, used if there is no index. */
  readChoice(choice: JsonObject, place: number): void {
    if (this.#addChoice(choice, place)) this.addPieces(1);
  }

  /** Reads a piece, such as a block of a message or a delta of one. */
  readPiece(piece: unknown): void {
    const { text, media } = findGenerated(piece);
    if (text !== "") this.#append(text);
    if (text !== "" || media > 0) this.addPieces(1);
  }

  /** Reads members of an event that belong to other protocols' answers. */
  readOutside(event: JsonObject): void {
    let answers: Record<string, unknown> | null = null;
    for (const name in event) {
      if (!ANSWER_MEMBERS.has(name)) continue;
      const value = event[name];
      const isList = name === "choices" && Array.isArray(value);
      // A text there is a progress message.
      const isStatus = name === "message" && typeof value === "string";
      if (isList || isStatus) continue;
      answers ??= {};
      answers[name] = value;
    }
    if (answers !== null) this.readPiece(answers);
  }

  /**
   * Reads a piece of a field of the item at `place`; null if the server does not name the item.
   * @param sameAs The field whose text it repeats.
   */
  readFieldPiece(place: number | null, field: FieldName, piece: unknown, sameAs?: string): void {
    if (place === null) this.readPiece(piece);
    else if (this.#addPiece(this.#outputAt(place), field, findGenerated(piece), sameAs)) this.addPieces(1);
  }

  /** Reads a whole field; counts the part that its pieces did not contain. */
  readField(place: number | null, field: FieldName, value: unknown): void {
    this.#readWhole(place, value, (output, bytes) => output.readField(field, bytes));
  }

  /** Reads a whole item; counts the part that its fields did not contain. */
  readItem(place: number | null, item: unknown): void {
    if (!isJsonObject(item)) return;
    const { type, name } = item;
    // The name is never sent in pieces.
    const nameBytes = Buffer.byteLength(findGenerated({ type, name }).text);
    this.#readWhole(
      place,
      item,
      (output, bytes) => output.readField("name", nameBytes) + output.readWhole(bytes),
    );
  }

  /** Reads the whole answer; counts the part that is new. */
  readAnswer(answer: unknown): void {
    this.#readWhole(null, answer);
  }

  get #unplacedBytes(): number {
    return Math.max(0, this.generatedBytes - this.#placedBytes);
  }

  #outputAt(place: unknown): CountedOutput {
    const known = this.#outputs.get(place);
    if (known !== undefined) return known;
    if (this.#outputs.size >= MAX_OUTPUTS && place !== FURTHER_OUTPUTS) {
      return this.#outputAt(FURTHER_OUTPUTS);
    }
    const output = new CountedOutput();
    this.#outputs.set(place, output);
    return output;
  }

  /** @returns Whether something is new. */
  #addChoice(choice: JsonObject, place: number): boolean {
    const { index, message } = choice;
    const output = this.#outputAt(index ?? place);
    let isNew = false;
    for (const name in choice) {
      if (name === "message") continue;
      const value = choice[name];
      const isDelta = name === "delta" && isJsonObject(value);
      isNew = (isDelta ? this.#addFields(output, value) : this.#addField(output, name, value)) || isNew;
    }
    output.hasPieces ||= isNew;
    if (!isJsonObject(message)) return this.#addField(output, "message", message) || isNew;
    // Messages sent in place of deltas are pieces; a message after deltas repeats them.
    const isRepeated = output.hasPieces || this.#unplacedBytes > 0;
    return (isRepeated ? this.#addMessage(output, message) : this.#addFields(output, message)) || isNew;
  }

  #addFields(output: CountedOutput, fields: JsonObject): boolean {
    let isNew = false;
    for (const name in fields) isNew = this.#addField(output, name, fields[name]) || isNew;
    return isNew;
  }

  #addField(output: CountedOutput, name: string, value: unknown): boolean {
    if (!mayHaveText(value)) return false;
    if (name === "annotations") this.tools.readAnnotations(value);
    const isCalls = name === "tool_calls" && Array.isArray(value);
    const found = findGenerated(isCalls ? dropRepeatedNames(output, value) : value, name);
    return this.#addPiece(output, name, found, SAME_TEXTS.get(name));
  }

  #addPiece(output: CountedOutput, field: FieldName, { text, media }: Generated, sameAs?: string): boolean {
    if (text === "") return output.addMedia(media);
    const bytes = Buffer.byteLength(text);
    const added = output.addPiece(field, bytes, sameAs);
    this.#placedBytes += added;
    this.#append(lastOf(text, bytes, added));
    return output.addMedia(media) || added > 0;
  }

  /** Reads a message, part of which may have come in deltas. */
  #addMessage(output: CountedOutput, message: JsonObject): boolean {
    const whole = new CountedOutput();
    const found: Generated = { text: "", media: 0 };
    for (const name in message) {
      const { text, media } = findGenerated(message[name], name);
      const bytes = Buffer.byteLength(text);
      found.text += lastOf(text, bytes, whole.addPiece(name, bytes, SAME_TEXTS.get(name)));
      found.media += media;
    }
    return this.#addWhole(output, found, addWhole);
  }

  #readWhole(place: number | null, value: unknown, add: AddWhole = addWhole): void {
    const output = place === null ? null : this.#outputAt(place);
    if (this.#addWhole(output, findGenerated(value), add)) this.addPieces(1);
  }

  /** @param output Null if the value repeats the whole answer so far. */
  #addWhole(output: CountedOutput | null, { text, media }: Generated, add: AddWhole): boolean {
    const bytes = Buffer.byteLength(text);
    if (output === null) {
      const rest = Math.max(0, bytes - this.generatedBytes);
      this.#append(lastOf(text, bytes, rest));
      return rest > 0 || (media > 0 && this.generatedDeltas === 0);
    }
    const added = add(output, bytes - this.#unplacedBytes);
    this.#placedBytes += added;
    this.#append(lastOf(text, bytes, added));
    return output.readMedia(media) || added > 0;
  }

  #append(text: string): void {
    if (text === "") return;
    const before = this.#text.byteLength;
    if (!this.#isTextFull) this.#isTextFull = !this.#text.append(text);
    this.generatedBytes += this.#isTextFull ? Buffer.byteLength(text) : this.#text.byteLength - before;
  }
}

/** Removes names that earlier pieces of the calls contained. */
function dropRepeatedNames(output: CountedOutput, calls: readonly unknown[]): readonly unknown[] {
  let distinct = calls;
  for (let place = 0; place < calls.length; place += 1) {
    const call = calls[place];
    const called = isJsonObject(call) ? call["function"] : null;
    if (!isJsonObject(call) || !isJsonObject(called) || typeof called["name"] !== "string") continue;
    if (!output.repeatsName(call["index"] ?? place, called["name"])) continue;
    distinct = distinct.with(place, { ...call, function: { ...called, name: null } });
  }
  return distinct;
}

/** Returns the last `last` bytes of a text. */
function lastOf(text: string, bytes: number, last: number): string {
  if (last === bytes) return text;
  return last === 0 ? "" : Buffer.from(text).subarray(-last).toString();
}
