/**
 * What one turn of the event loop asks of Redis and one command can ask: to run a script takes Redis as long as most of what
 * the script does. Nothing waits for company; what is alone in its turn is a batch of one.
 */
import { createDeferred } from "../../../shared/event-loop/deferred.ts";
import { makeCommandsAtTurnEnd } from "../../../shared/event-loop/turn-end.ts";

/** Asks for all items at once: an answer for each, in their order; or rejects for all of them. */
export type AskAll<Item, Answer> = (items: readonly Item[]) => Promise<readonly Answer[]>;

interface Batch<Item, Answer> {
  readonly items: Item[];
  readonly answers: Promise<readonly Answer[]>;
}

/** Keeps a script under a millisecond, so that others do not wait for it. */
const MAX_ITEMS = 64;

export class TurnBatches<Item, Answer> {
  /** This turn's batches, by what their items have in common. */
  readonly #batches = new Map<string, Batch<Item, Answer>>();

  /**
   * @param common What one command can be asked for: items of the same name share one.
   * @param askAll Of the first item of a batch.
   */
  async ask(common: string, item: Item, askAll: AskAll<Item, Answer>): Promise<Answer> {
    const { items, answers } = this.#batches.get(common) ?? this.#begin(common, askAll);
    const position = items.push(item) - 1;
    if (items.length === MAX_ITEMS) this.#batches.delete(common);
    const answer = (await answers)[position];
    if (answer === undefined) throw new TypeError(`item ${position} of a batch has no answer`);
    return answer;
  }

  #begin(common: string, askAll: AskAll<Item, Answer>): Batch<Item, Answer> {
    const { promise, resolve } = createDeferred<readonly Answer[]>();
    const batch = { items: [], answers: promise };
    this.#batches.set(common, batch);
    makeCommandsAtTurnEnd(() => {
      if (this.#batches.get(common) === batch) this.#batches.delete(common);
      resolve(askAll(batch.items));
    });
    return batch;
  }
}
