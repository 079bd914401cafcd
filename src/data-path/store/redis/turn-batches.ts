/**
 * Batches of items that arrive in one turn of the event loop and fit into one command: the overhead of a
 * script is about as large as most of its work. Nothing waits for company; a single item is a batch of one.
 */
import { createDeferred } from "../../../shared/event-loop/deferred.ts";
import { makeCommandsAtTurnEnd } from "../../../shared/event-loop/turn-end.ts";

/** Runs all items at once. Returns one result per item, in their order, or rejects for all of them. */
export type RunAll<Item, Answer> = (items: readonly Item[]) => Promise<readonly Answer[]>;

interface Batch<Item, Answer> {
  readonly items: Item[];
  readonly answers: Promise<readonly Answer[]>;
}

/** Keeps a script under a millisecond, so that others need not wait. */
const MAX_ITEMS = 64;

export class TurnBatches<Item, Answer> {
  /** This turn's batches by group name. */
  readonly #batches = new Map<string, Batch<Item, Answer>>();

  /**
   * Adds an item to this turn's batch and returns its result.
   * @param common Name of the group: items with the same name share one command.
   * @param runAll Function of the first item of a batch; used for all.
   */
  async run(common: string, item: Item, runAll: RunAll<Item, Answer>): Promise<Answer> {
    const { items, answers } = this.#batches.get(common) ?? this.#begin(common, runAll);
    const position = items.push(item) - 1;
    if (items.length === MAX_ITEMS) this.#batches.delete(common);
    const answer = (await answers)[position];
    if (answer === undefined) throw new TypeError(`item ${position} of a batch has no answer`);
    return answer;
  }

  #begin(common: string, runAll: RunAll<Item, Answer>): Batch<Item, Answer> {
    const { promise, resolve } = createDeferred<readonly Answer[]>();
    const batch = { items: [], answers: promise };
    this.#batches.set(common, batch);
    makeCommandsAtTurnEnd(() => {
      if (this.#batches.get(common) === batch) this.#batches.delete(common);
      resolve(runAll(batch.items));
    });
    return batch;
  }
}
