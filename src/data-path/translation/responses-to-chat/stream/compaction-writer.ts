import { GatewayError } from "../../../../shared/contract/errors.ts";
import { packSummary } from "../../conversation/compaction.ts";
import type { CreateId } from "../ids.ts";
import type { CompactionItem, ItemEvent, OutputItem } from "../response.ts";
import { AnswerBudget, CollectedText } from "./collected-text.ts";
import type { ItemsWriter } from "./items-writer.ts";

/** Placeholder index: calls are not written. */
const NO_INDEX = -1;

/**
 * Writes the summary of a conversation as a single item at the end: clients accept exactly one, and it replaces
 * everything before it. Therefore an incomplete summary is dropped, as is other output (reasoning, a call despite the
 * instruction).
 */
export class CompactionWriter implements ItemsWriter {
  readonly #emit: (event: ItemEvent) => void;
  readonly #createId: CreateId;
  readonly #summary = new CollectedText(new AnswerBudget());

  constructor(emit: (event: ItemEvent) => void, createId: CreateId) {
    this.#emit = emit;
    this.#createId = createId;
  }

  writeText(text: string): void {
    this.#summary.append(text);
  }

  writeReasoning(): void {}
  writeRefusal(): void {}
  writeCallCarrier(): void {}
  startCall(): number {
    return NO_INDEX;
  }
  writeArguments(): void {}
  closeCall(): void {}

  end(isIncomplete: boolean): OutputItem[] {
    if (isIncomplete) return [];
    const item: CompactionItem = { id: this.#createId("cmp"), type: "compaction", encrypted_content: "" };
    const done: CompactionItem = { ...item, encrypted_content: this.#pack() };
    this.#emit({ type: "response.output_item.added", output_index: 0, item });
    this.#emit({ type: "response.output_item.done", output_index: 0, item: done });
    return [done];
  }

  abandon(): OutputItem[] {
    return [];
  }

  /** @throws GatewayError that makes clients retry. */
  #pack(): string {
    const isEmpty = this.#summary.toString().trim() === "";
    const carrier = isEmpty ? null : packSummary(this.#summary.bytes);
    if (carrier !== null) return carrier;
    const message = isEmpty
      ? "The model wrote no summary. Try again."
      : "The model's summary is longer than 512 KiB. Try again with a shorter conversation.";
    throw new GatewayError("upstream_error", { message });
  }
}
