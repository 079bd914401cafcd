/**
 * Writes charges to Redis. A final charge that Redis does not acknowledge goes to the spool on this host's
 * disk, which resends it until acknowledged; if the disk rejects it as well, it stays in memory and is
 * retried. A charge sets a total, so resending counts nothing twice. Progress charges are not retried, since
 * the next charge supersedes them.
 */
import type { Clock } from "../../shared/time/clock.ts";
import type { GraceSpend } from "../grace/grace-spend.ts";
import type { Logger } from "../../shared/host/logger.ts";
import type { Store } from "../../shared/stored/store.ts";
import type { ChargeInput } from "../../shared/stored/settlement.ts";
import { pause, waitAtMost } from "../../shared/event-loop/wait.ts";
import { isRefusedCharge } from "../store/requests/refused-charge.ts";
import type { Spool } from "../spool/spool.ts";

export interface ChargeWriterOptions {
  readonly store: Pick<Store, "charge">;
  readonly clock: Clock;
  readonly logger: Logger<"warn" | "error">;
  readonly spool: Pick<Spool, "append">;
  /** Notified of charges that were counted; the store notifies it of acknowledgments. */
  readonly spend: Pick<GraceSpend, "counted">;
  readonly listener: ChargeListener;
}

/** Callbacks for the outcome of charges. */
export interface ChargeListener {
  /**
   * Called when Redis or the spool has taken a charge of the request, and when Redis has rejected one permanently.
   */
  readonly onRecord: (requestId: string) => void;
  /** Called whenever it is unknown whether a charge was executed, so that the record must stay. */
  readonly onUnanswered: (charge: ChargeInput) => void;
}

/** Start and error of a charge's first attempt. */
interface FailedAttempt {
  readonly startedMs: number;
  readonly error: unknown;
}

const FIRST_RETRY_MS = 100;
const MAX_RETRY_MS = 5_000;
/**
 * Maximum delay of a response's last piece by its charge. Together with the tokenizer's 2 s it is below
 * ext_proc's 5 s for one reply.
 */
const MAX_ANSWER_DELAY_MS = 2_500;

export class ChargeWriter {
  readonly #options: ChargeWriterOptions;
  #unacknowledged = 0;

  constructor(options: ChargeWriterOptions) {
    this.#options = options;
  }

  /** Number of final charges that are neither acknowledged nor in the spool. */
  get unacknowledged(): number {
    return this.#unacknowledged;
  }

  /**
   * Resolves when the charge is acknowledged (true) or in the spool, or after a bound, while retries
   * continue. Never rejects.
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
      // Not logged: each stream would log a line every two seconds.
      listener.onUnanswered(charge);
      return false;
    }
  }

  /** Returns whether this host's disk has the charge. */
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

  /**
   * Retries a charge whose first attempt failed, at the latest by the store's timeout. A timer of its own for each
   * charge would cost more than this wait.
   */
  async #writeLate(charge: ChargeInput, first: FailedAttempt): Promise<boolean> {
    const { clock } = this.#options;
    let isAcknowledged = false;
    const write = async (): Promise<void> => {
      isAcknowledged = await this.#repeat(charge, first);
      this.#unacknowledged -= 1;
    };
    const waitedMs = clock.monotonicMs() - first.startedMs;
    await waitAtMost(write(), MAX_ANSWER_DELAY_MS - waitedMs);
    return isAcknowledged;
  }

  /** Retries until the charge is taken or rejected permanently. Never rejects. */
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
        listener.onRecord(charge.requestId);
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
