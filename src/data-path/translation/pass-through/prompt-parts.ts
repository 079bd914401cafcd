import { formatJson } from "../json/exact-json.ts";
import type { JsonBody } from "../json/parse-body.ts";
import { addVisibleBytes } from "../visible-bytes.ts";
import type { PromptSize, ProtocolName } from "../client-protocol.ts";
import { isWholeField } from "../fields/known-fields.ts";

/** Collects the parts of a body that the model reads, in order. Lenient, because the upstream validates the body. */
export class PromptParts {
  /** Images, files, content by URL or id, and unknown parts, whose tokens cannot be estimated from bytes. */
  media = 0;
  messages = 0;
  hasTools = false;
  unbounded: PromptSize["unbounded"] = undefined;
  #hasUnknownFields = false;
  readonly #texts: string[] = [];
  #visibleTextBytes = 0;

  /** Adds a text; ignores any other value. */
  addText(value: unknown): void {
    if (typeof value !== "string" || value === "") return;
    this.#texts.push(value);
    this.#visibleTextBytes = addVisibleBytes(this.#visibleTextBytes, value);
  }

  /** Adds text that servers may drop: reasoning, names of tools. */
  addDroppable(value: unknown): void {
    if (typeof value === "string" && value !== "") this.#texts.push(value);
  }

  /** Adds a value that the model reads as JSON. */
  addJson(value: unknown): void {
    if (value !== undefined && value !== null) this.#texts.push(formatJson(value));
  }

  /**
   * Marks the cost as unbounded if a field is repeated, because only one value was read here.
   * @param names Fields that were read here.
   */
  findRepeated({ members }: Pick<JsonBody, "members">, names: readonly string[]): void {
    for (const name of names) {
      if (members.filter(({ key }) => key === name).length < 2) continue;
      this.unbounded ??= { param: name, reason: "is given more than once" };
    }
  }

  /** Finds fields whose effect on the prompt is unknown. */
  findUnknown({ members }: Pick<JsonBody, "members">, protocol: ProtocolName): void {
    this.#hasUnknownFields ||= members.some(({ key }) => !isWholeField(protocol, key));
  }

  get text(): string {
    return this.#texts.join("\n");
  }

  get size(): PromptSize {
    return {
      textBytes: this.#texts.reduce((bytes, text) => bytes + Buffer.byteLength(text), 0),
      visibleTextBytes: this.#visibleTextBytes,
      messages: this.messages,
      hasMedia: this.media > 0,
      hasTools: this.hasTools,
      predictionBytes: 0,
      isWhole: !this.#hasUnknownFields && this.media === 0 && this.unbounded === undefined,
      unbounded: this.unbounded,
    };
  }
}
