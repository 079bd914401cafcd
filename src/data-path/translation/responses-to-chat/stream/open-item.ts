import type { ItemEvent, ItemStatus, OutputItem } from "../response.ts";
import type { AnswerBudget } from "./collected-text.ts";

/** What an item needs while it is written. */
export interface ItemContext {
  readonly id: string;
  readonly outputIndex: number;
  readonly emit: (event: ItemEvent) => void;
  readonly budget: AnswerBudget;
}

/** An item that has begun and is not done. */
export interface OpenItem {
  /** Writes the events that end its texts, not `output_item.done`. @returns the item as it is in the response. */
  close(status: ItemStatus): OutputItem;
  /** The item as far as it has come, without any event: for a response that failed. */
  abandon(): OutputItem;
}
