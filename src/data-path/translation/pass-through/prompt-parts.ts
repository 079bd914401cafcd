import { formatJson } from "../json/exact-json.ts";
import type { JsonBody } from "../json/parse-body.ts";
import { countInkBytes } from "../ink-bytes.ts";
import type { PromptSize, ProtocolName } from "../client-protocol.ts";
import { isWholeField } from "../fields/known-fields.ts";

/** Collects what of a body is put before the model, in the order of reading. Lenient: the upstream checks the body. */
export class PromptParts {
  /** Images, files, content by URL or id, and whatever is not known: their tokens cannot be told from bytes. */
  media = 0;
  messages = 0;
  hasTools = false;
  unbounded: PromptSize["unbounded"] = undefined;
  #hasUnknownFields = false;
  readonly #texts: string[] = [];
  #inkBytes = 0;

  /** A text; anything else counts as nothing. */
  addText(value: unknown): void {
    if (typeof value !== "string" || value === "") return;
    this.#texts.push(value);
    this.#inkBytes += countInkBytes(value);
  }

  /** Does what `addText` does with what servers may leave out: reasoning, names of tools. */
  addDroppable(value: unknown): void {
    if (typeof value === "string" && value !== "") this.#texts.push(value);
  }

  /** A value that the model reads as JSON. */
  addJson(value: unknown): void {
    if (value !== undefined && value !== null) this.#texts.push(formatJson(value));
  }

  /**
   * What makes the cost of a request boundless. A field that is given twice is such a thing too: it was read here once.
   * @param names Fields that were read here.
   */
  findRepeated({ members }: Pick<JsonBody, "members">, names: readonly string[]): void {
    for (const name of names) {
      if (members.filter(({ key }) => key === name).length < 2) continue;
      this.unbounded ??= { param: name, reason: "is given more than once" };
    }
  }

  /** Fields of which it is not known what they add to the prompt. */
  findUnknown({ members }: Pick<JsonBody, "members">, protocol: ProtocolName): void {
    this.#hasUnknownFields ||= members.some(({ key }) => !isWholeField(protocol, key));
  }

  get text(): string {
    return this.#texts.join("\n");
  }

  get size(): PromptSize {
    return {
      textBytes: this.#texts.reduce((bytes, text) => bytes + Buffer.byteLength(text), 0),
      inkBytes: this.#inkBytes,
      messages: this.messages,
      hasMedia: this.media > 0,
      hasTools: this.hasTools,
      predictionBytes: 0,
      isWhole: !this.#hasUnknownFields && this.media === 0 && this.unbounded === undefined,
      unbounded: this.unbounded,
    };
  }
}
