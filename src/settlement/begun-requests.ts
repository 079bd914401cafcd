import type { Admission } from "../limits/admission.ts";
import type { Clock } from "../time/clock.ts";
import type { Logger } from "../host/logger.ts";
import { timeOfId } from "../store/ids.ts";
import type { Spool } from "../spool/spool.ts";
import type { RequestAccount } from "./request-account.ts";
import { isTakenNear } from "./used-tokens.ts";

export interface BegunRequestsOptions {
  readonly spool: Pick<Spool, "append" | "journal">;
  readonly clock: Pick<Clock, "nowMs">;
  readonly logger: Logger<"error">;
}

/** Caps are compared at the admission alone then, so it must not be long ago. */
const MAX_ADMISSION_AGE_MS = 1_000;

/**
 * Requests that went upstream before Redis had a record of them. A hold costs more than any other command, and where it
 * would refuse nothing (no strict caps, no limit of concurrent requests) its record is needed only if this worker dies:
 * Redis has the request entered by its admission, this host's disk has a line of it, and the first progress, or the final
 * charge of a request that ends before, makes the record.
 */
export class BegunRequests {
  readonly #options: BegunRequestsOptions;
  #isRedisAnswering = true;

  constructor(options: BegunRequestsOptions) {
    this.#options = options;
  }

  /** Whether the request may go upstream now; if not, it needs a hold. */
  async begin(account: RequestAccount, admission: Admission): Promise<boolean> {
    const { isEntered, requestId, takenTokens } = admission;
    if (!isEntered || !this.#isRedisAnswering) return false;
    if (!isTakenNear(takenTokens, account.estimatedInputTokens)) return false;
    // Envoy collects the whole body before a worker hears of the request again. One of the future was admitted by a host
    // whose clock does not agree.
    const admittedMs = timeOfId(requestId) ?? 0;
    if (Math.abs(this.#options.clock.nowMs() - admittedMs) > MAX_ADMISSION_AGE_MS) return false;
    const { tags, tagRow, isSessionCapped } = account.identity;
    // Its hold compares.
    if (isSessionCapped === true) return false;
    // Its hold says in which row of usage it counts.
    if (tags !== undefined && tagRow === undefined) return false;
    account.begunIn = await this.#options.spool.journal.append(account.opened);
    return account.begunIn !== null;
  }

  /** Whether Redis has no record of this request yet. */
  has(account: RequestAccount): boolean {
    return account.begunIn !== null;
  }

  /** A hold was placed. */
  onHeld(): void {
    this.#isRedisAnswering = true;
  }

  /** A charge of this request is in Redis or in the spool. */
  onRecord(account: RequestAccount): void {
    const { begunIn } = account;
    if (begunIn === null) return;
    account.begunIn = null;
    this.#options.spool.journal.leave(begunIn);
  }

  /**
   * A charge was not answered: the next requests wait for their holds until one is placed. Redis may forget meanwhile that
   * this one was entered, so it is put in the spool as one that nobody knows anything of.
   */
  async onUnanswered(account: RequestAccount): Promise<void> {
    this.#isRedisAnswering = false;
    if (!this.has(account)) return;
    const { spool, clock, logger } = this.#options;
    const { opened } = account;
    try {
      await spool.append({ kind: "open", atMs: clock.nowMs(), opened });
      this.onRecord(account);
    } catch (error) {
      logger.error({ request_id: opened.requestId, err: error }, "a request could not be put in the spool");
    }
  }
}
