import type { JsonObject } from "../../../../shared/text/json-object.ts";
import type { ItemStatus, MessageItem, MessagePart } from "../response.ts";
import { CollectedText } from "./collected-text.ts";
import type { ItemContext, OpenItem } from "./open-item.ts";

type PartKind = MessagePart["type"];

/** Writes one message: parts of text or refusal, each opened by its first delta. */
export class MessageWriter implements OpenItem {
  readonly #context: ItemContext;
  readonly #parts: MessagePart[] = [];
  #open: { readonly kind: PartKind; readonly text: CollectedText; readonly logprobs: JsonObject[] } | null =
    null;

  constructor(context: ItemContext) {
    this.#context = context;
    context.emit({
      type: "response.output_item.added",
      output_index: context.outputIndex,
      item: this.#format("in_progress"),
    });
  }

  writeText(text: string, logprobs: readonly JsonObject[]): void {
    const open = this.#openPart("output_text");
    open.text.append(text);
    for (const entry of logprobs) open.logprobs.push(entry);
    const { id, outputIndex, emit } = this.#context;
    emit({
      type: "response.output_text.delta",
      item_id: id,
      output_index: outputIndex,
      content_index: this.#parts.length,
      delta: text,
      logprobs,
    });
  }

  writeRefusal(text: string): void {
    this.#openPart("refusal").text.append(text);
    this.#context.emit({ type: "response.refusal.delta", ...this.#place, delta: text });
  }

  close(status: ItemStatus): MessageItem {
    this.#closePart();
    return this.#format(status);
  }

  abandon(): MessageItem {
    const part = this.#formatOpenPart();
    if (part !== null) this.#parts.push(part);
    this.#open = null;
    return this.#format("incomplete");
  }

  get #place() {
    const { id, outputIndex } = this.#context;
    return { item_id: id, output_index: outputIndex, content_index: this.#parts.length };
  }

  #openPart(kind: PartKind) {
    if (this.#open?.kind === kind) return this.#open;
    this.#closePart();
    this.#open = { kind, text: new CollectedText(this.#context.budget), logprobs: [] };
    const part = formatPart(kind, "", []);
    this.#context.emit({ type: "response.content_part.added", ...this.#place, part });
    return this.#open;
  }

  #closePart(): void {
    const part = this.#formatOpenPart();
    if (part === null) return;
    const { emit } = this.#context;
    if (part.type === "refusal") {
      emit({ type: "response.refusal.done", ...this.#place, refusal: part.refusal });
    } else {
      const { text, logprobs } = part;
      emit({ type: "response.output_text.done", ...this.#place, text, logprobs });
    }
    emit({ type: "response.content_part.done", ...this.#place, part });
    this.#parts.push(part);
    this.#open = null;
  }

  #formatOpenPart(): MessagePart | null {
    if (this.#open === null) return null;
    const { kind, text, logprobs } = this.#open;
    return formatPart(kind, text.toString(), logprobs);
  }

  #format(status: ItemStatus): MessageItem {
    return { id: this.#context.id, type: "message", role: "assistant", status, content: [...this.#parts] };
  }
}

function formatPart(kind: PartKind, text: string, logprobs: readonly JsonObject[]): MessagePart {
  if (kind === "refusal") return { type: "refusal", refusal: text };
  return { type: "output_text", text, annotations: [], logprobs };
}
