/**
 * Gets charges on record. A final charge that Redis did not acknowledge is sent again until it is: it sets a total, so
 * sending it again counts nothing twice. Progress is not repeated, since the next one, or the final one, says more.
 */
import type { Clock } from "../clock.ts";
import type { Store } from "../store/types.ts";
import type { ChargeInput } from "../store/types/settlement.ts";
import { pause, waitAtMost } from "./bounded-wait.ts";

export interface ChargeWriterOptions {
  readonly store: Pick<Store, "charge">;
  readonly clock: Clock;
  readonly logger: {
    warn(fields: object, message: string): void;
    error(fields: object, message: string): void;
  };
}

const FIRST_RETRY_MS = 100;
const MAX_RETRY_MS = 5_000;
/** How long an answer's last piece waits for its charge. With the tokenizer's 2 s below ext_proc's 5 s for one reply. */
const MAX_ANSWER_DELAY_MS = 2_500;

export class ChargeWriter {
  readonly #options: ChargeWriterOptions;
  #unacknowledged = 0;

  constructor(options: ChargeWriterOptions) {
    this.#options = options;
  }

  /** Final charges that are not acknowledged yet. */
  get unacknowledged(): number {
    return this.#unacknowledged;
  }

  /**
   * Resolves when the charge is acknowledged, or after a bound, while it goes on trying. Never rejects.
   * @param onUnanswered Whether an earlier attempt was executed is not known, so the record must stay.
   */
  async write(charge: ChargeInput, onUnanswered: () => void): Promise<void> {
    if (charge.final === null) return this.#tryOnce(charge, onUnanswered);
    this.#unacknowledged += 1;
    const acknowledged = this.#repeat(charge, onUnanswered).finally(() => {
      this.#unacknowledged -= 1;
    });
    await waitAtMost(acknowledged, MAX_ANSWER_DELAY_MS);
  }

  async #tryOnce(charge: ChargeInput, onUnanswered: () => void): Promise<void> {
    try {
      await this.#options.store.charge(charge);
    } catch {
      // Not worth a line: it would be one for each stream every two seconds.
      onUnanswered();
    }
  }

  async #repeat(charge: ChargeInput, onUnanswered: () => void): Promise<void> {
    const { store, clock, logger } = this.#options;
    const startedMs = clock.monotonicMs();
    for (let attempt = 1; ; attempt += 1) {
      try {
        await store.charge(charge);
        return;
      } catch (error) {
        onUnanswered();
        const fields = {
          request_id: charge.requestId,
          microcents: String(charge.totalMicrocents),
          err: error,
        };
        if (isRefusal(error)) {
          logger.error(fields, "a charge contradicts what is on record and is given up");
          return;
        }
        if (attempt === 1) logger.warn(fields, "a charge was not acknowledged and is tried again");
        await pause(Math.min(MAX_RETRY_MS, FIRST_RETRY_MS + (clock.monotonicMs() - startedMs) / 4));
      }
    }
  }
}

/** Redis has read the charge and will never take it: the record says another key, month, day or model. */
function isRefusal(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith("MISMATCH");
}
