import { MAX_CARRIED_BYTES, packReasoning } from "../../conversation/carried-reasoning.ts";
import type { AnswerSettings } from "../answer-settings.ts";
import type { ItemStatus, ReasoningItem } from "../response.ts";
import { CollectedText } from "./collected-text.ts";
import type { ItemContext, OpenItem } from "./open-item.ts";

export type ReasoningSettings = Pick<AnswerSettings, "reasoning" | "carriesReasoning">;

/**
 * Writes one reasoning item, with the model's text either as content or as the summary. Both would double the bytes
 * here and in the history.
 */
export class ReasoningWriter implements OpenItem {
  readonly #context: ItemContext;
  readonly #settings: ReasoningSettings;
  readonly #text: CollectedText;

  constructor(context: ItemContext, settings: ReasoningSettings) {
    this.#context = context;
    this.#settings = settings;
    this.#text = new CollectedText(context.budget);
    const { emit, outputIndex } = context;
    emit({
      type: "response.output_item.added",
      output_index: outputIndex,
      item: this.#format("in_progress", null),
    });
    if (this.#isSummary) {
      const part = { type: "summary_text", text: "" } as const;
      emit({ type: "response.reasoning_summary_part.added", ...this.#summaryPlace, part });
    } else {
      const part = { type: "reasoning_text", text: "" } as const;
      emit({ type: "response.content_part.added", ...this.#place, part });
    }
  }

  write(text: string): void {
    this.#text.append(text);
    const { emit } = this.#context;
    if (this.#isSummary) {
      emit({ type: "response.reasoning_summary_text.delta", ...this.#summaryPlace, delta: text });
    } else {
      emit({ type: "response.reasoning_text.delta", ...this.#place, delta: text });
    }
  }

  close(status: ItemStatus): ReasoningItem {
    const { emit } = this.#context;
    const text = this.#text.toString();
    if (this.#isSummary) {
      const part = { type: "summary_text", text } as const;
      emit({ type: "response.reasoning_summary_text.done", ...this.#summaryPlace, text });
      emit({ type: "response.reasoning_summary_part.done", ...this.#summaryPlace, part });
    } else {
      const part = { type: "reasoning_text", text } as const;
      emit({ type: "response.reasoning_text.done", ...this.#place, text });
      emit({ type: "response.content_part.done", ...this.#place, part });
    }
    return { ...this.#format(status, text), ...this.#pack() };
  }

  abandon(): ReasoningItem {
    return this.#format("incomplete", this.#text.toString());
  }

  get #isSummary(): boolean {
    return this.#settings.reasoning === "summary";
  }

  get #place() {
    const { id, outputIndex } = this.#context;
    return { item_id: id, output_index: outputIndex, content_index: 0 };
  }

  get #summaryPlace() {
    const { id, outputIndex } = this.#context;
    return { item_id: id, output_index: outputIndex, summary_index: 0 };
  }

  /** Reasoning beyond the limit is not carried: incomplete reasoning is worse than none. */
  #pack(): Pick<ReasoningItem, "encrypted_content"> {
    const { bytes } = this.#text;
    if (!this.#settings.carriesReasoning || bytes.byteLength > MAX_CARRIED_BYTES) return {};
    return { encrypted_content: packReasoning(bytes) };
  }

  /** @param text Null: no text so far. */
  #format(status: ItemStatus, text: string | null): ReasoningItem {
    const { id } = this.#context;
    const item = { id, type: "reasoning", status } as const;
    if (this.#isSummary) return { ...item, summary: text === null ? [] : [{ type: "summary_text", text }] };
    return { ...item, summary: [], content: text === null ? [] : [{ type: "reasoning_text", text }] };
  }
}
