/**
 * The writer gets charges on record. A final charge that Redis did not acknowledge goes to the spool on this host's disk,
 * which sends it until it is; where the disk does not take it either, it is kept here and sent again. It sets a total, so
 * sending it again counts nothing twice. Progress is not repeated, since the next one, or the final one, says more.
 */
import type { Clock } from "../../shared/time/clock.ts";
import type { GraceSpend } from "../grace/grace-spend.ts";
import type { Logger } from "../../shared/host/logger.ts";
import type { Store } from "../store/types.ts";
import type { ChargeInput } from "../store/types/settlement.ts";
import { pause, waitAtMost } from "../../shared/event-loop/wait.ts";
import { isRefusedCharge } from "../store/requests/refused-charge.ts";
import type { Spool } from "../spool/spool.ts";

export interface ChargeWriterOptions {
  readonly store: Pick<Store, "charge">;
  readonly clock: Clock;
  readonly logger: Logger<"warn" | "error">;
  readonly spool: Pick<Spool, "append">;
  /** It learns what was counted; the store tells it what of that is acknowledged. */
  readonly spend: Pick<GraceSpend, "counted">;
  readonly listener: ChargeListener;
}

/** The listener hears what becomes of the charges. */
export interface ChargeListener {
  /** The request is on record, in Redis or in the spool: each time. */
  readonly onRecord: (requestId: string) => void;
  /** Whether an attempt was executed is not known, so the record must stay: each time. */
  readonly onUnanswered: (charge: ChargeInput) => void;
  /** The answer's last piece waits no longer; the final charge is in memory alone and is tried again. */
  readonly onLate: (requestId: string) => void;
  /** The final charge will never be taken. */
  readonly onGivenUp: (requestId: string) => void;
}

/** This is known of the first attempt of a charge. */
interface FailedAttempt {
  readonly startedMs: number;
  readonly error: unknown;
}

const FIRST_RETRY_MS = 100;
const MAX_RETRY_MS = 5_000;
/** An answer's last piece waits so long for its charge. With the tokenizer's 2 s it is below ext_proc's 5 s for one reply. */
const MAX_ANSWER_DELAY_MS = 2_500;

export class ChargeWriter {
  readonly #options: ChargeWriterOptions;
  #unacknowledged = 0;

  constructor(options: ChargeWriterOptions) {
    this.#options = options;
  }

  /** So many final charges are neither acknowledged nor in the spool yet. */
  get unacknowledged(): number {
    return this.#unacknowledged;
  }

  /**
   * It resolves when the charge is acknowledged (true) or in the spool, or after a bound, while the writer goes on trying.
   * It never rejects.
   */
  async write(charge: ChargeInput): Promise<boolean> {
    const { spend, store, clock, listener } = this.#options;
    spend.counted(charge, charge.totalMicrocents);
    if (charge.final === null) return this.#tryOnce(charge);
    this.#unacknowledged += 1;
    const startedMs = clock.monotonicMs();
    try {
      await store.charge(charge);
    } catch (error) {
      return this.#writeLate(charge, { startedMs, error });
    }
    this.#unacknowledged -= 1;
    listener.onRecord(charge.requestId);
    return true;
  }

  async #tryOnce(charge: ChargeInput): Promise<boolean> {
    const { store, listener } = this.#options;
    try {
      await store.charge(charge);
      listener.onRecord(charge.requestId);
      return true;
    } catch {
      // This is not worth a line of the log: there would be one for each stream every two seconds.
      listener.onUnanswered(charge);
      return false;
    }
  }

  /** Whether the charge is safe on this host's disk. */
  async #putInSpool(charge: ChargeInput): Promise<boolean> {
    const { spool, clock, logger } = this.#options;
    try {
      await spool.append({ kind: "charge", atMs: clock.nowMs(), charge });
      return true;
    } catch (error) {
      logger.error({ request_id: charge.requestId, err: error }, "charge not written to the spool");
      return false;
    }
  }

  /** The answer has waited for the store's own bound; a timer for each charge would cost more than its wait. */
  async #writeLate(charge: ChargeInput, first: FailedAttempt): Promise<boolean> {
    const { clock, listener } = this.#options;
    let isAcknowledged: boolean | null = null;
    const write = async (): Promise<void> => {
      isAcknowledged = await this.#repeat(charge, first);
      this.#unacknowledged -= 1;
    };
    const waitedMs = clock.monotonicMs() - first.startedMs;
    await waitAtMost(write(), MAX_ANSWER_DELAY_MS - waitedMs);
    if (isAcknowledged === null) listener.onLate(charge.requestId);
    return isAcknowledged === true;
  }

  /** It never rejects. */
  async #repeat(charge: ChargeInput, { startedMs, error: first }: FailedAttempt): Promise<boolean> {
    const { store, clock, logger, listener } = this.#options;
    let error = first;
    for (let attempt = 1; ; attempt += 1) {
      listener.onUnanswered(charge);
      const fields = {
        request_id: charge.requestId,
        microcents: String(charge.totalMicrocents),
        err: error,
      };
      if (isRefusedCharge(error)) {
        logger.error(fields, "charge contradicts its record, dropped");
        listener.onGivenUp(charge.requestId);
        return false;
      }
      if (await this.#putInSpool(charge)) {
        listener.onRecord(charge.requestId);
        return false;
      }
      if (attempt === 1) logger.warn(fields, "charge not acknowledged, retrying");
      await pause(Math.min(MAX_RETRY_MS, FIRST_RETRY_MS + (clock.monotonicMs() - startedMs) / 4), {
        ref: false,
      });
      try {
        await store.charge(charge);
        listener.onRecord(charge.requestId);
        return true;
      } catch (again) {
        error = again;
      }
    }
  }
}
