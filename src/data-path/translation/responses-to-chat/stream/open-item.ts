import type { ItemEvent, ItemStatus, OutputItem } from "../response.ts";
import type { AnswerBudget } from "./collected-text.ts";

/** Context for writing an item. */
export interface ItemContext {
  readonly id: string;
  readonly outputIndex: number;
  readonly emit: (event: ItemEvent) => void;
  readonly budget: AnswerBudget;
}

/** An item that has started and is not closed. */
export interface OpenItem {
  /** Writes the events that end its texts, but not `output_item.done`. @returns The item of the response. */
  close(status: ItemStatus): OutputItem;
  /** Returns the item so far, without an event: for a failed response. */
  abandon(): OutputItem;
}
