/**
 * A request gets on record before it goes upstream: by a line of this host's journal, by a hold in Redis, or, where
 * Redis does not answer the hold and the grace period lets it go on, by an entry in the spool.
 */
import type { Clock } from "../../shared/time/clock.ts";
import { GatewayError } from "../../shared/contract/errors.ts";
import type { DashboardAddress } from "../../shared/contract/pages.ts";
import type { GraceOutage } from "../grace/grace-outage.ts";
import { isOutOfReach } from "../grace/out-of-reach.ts";
import type { Logger } from "../../shared/host/logger.ts";
import type { Admission } from "../limits/admission.ts";
import { createConcurrencyError, fitsShare } from "../limits/concurrency-limit.ts";
import { createHoldError, describeShrunk, type HoldRefusal } from "../limits/hold-error.ts";
import type { Shrunk } from "../limits/spend-cap.ts";
import { roomUnder } from "../../shared/money/money.ts";
import type { Spool } from "../spool/spool.ts";
import { timeOfId } from "../store/ids.ts";
import type { Store } from "../store/types.ts";
import type { HoldInput, HoldResult, SessionFigures } from "../store/types/settlement.ts";
import type { RequestRecords } from "./record-state.ts";
import type { RequestAccount } from "./request-account.ts";
import type { StrictWorstCase } from "./tokens/strict-worst-case.ts";
import type { TagRows } from "./tag-rows.ts";
import { isTakenNear } from "./tokens/used-tokens.ts";

export interface RecordOpenerOptions {
  readonly store: Pick<Store, "hold">;
  /** Of requests that cannot go on without its answer: it waits longer. */
  readonly patient: Pick<Store, "hold">;
  readonly spool: Pick<Spool, "append" | "journal">;
  /** It knows whether requests may go upstream without a hold in Redis. */
  readonly outage: GraceOutage;
  /** It tells how many workers share a key's limits in the grace period. */
  readonly shares: () => number;
  readonly clock: Pick<Clock, "nowMs">;
  readonly logger: Logger<"error">;
  /** The message of a 402 leads there. */
  readonly dashboard: DashboardAddress;
}

/** Strict caps ask these of a request. */
type WorstCase = Pick<StrictWorstCase, "microcents" | "afford" | "shrinkTo">;

/** All attempts to place one hold have this in common. */
interface HoldToPlace {
  readonly hold: Omit<HoldInput, "worstCaseMicrocents">;
  readonly admission: Admission;
  readonly worstCase: WorstCase;
  readonly dashboard: DashboardAddress;
}

/** This came of placing a hold. */
interface PlacedHold {
  /** The request holds so much; null without strict caps. */
  readonly worstCaseMicrocents: bigint | null;
  /** @see RequestIdentity */
  readonly tagRow: string | undefined;
  /** The limit of its answers was lowered to this; null: the request goes as it is. */
  readonly shrunk: Shrunk | null;
}

/** Caps are compared at the admission alone where there is no hold, so it must not be long ago. */
const MAX_ADMISSION_AGE_MS = 1_000;
/** Others may take the room that was found until it is asked for. */
const MAX_SHRUNK_HOLDS = 3;

/**
 * Most requests begin on a line of the journal. A hold costs more than any other command, and where it would refuse nothing
 * (no strict caps, no limit of concurrent requests) its record is needed only if this worker dies: Redis has the request
 * entered by its admission, this host's disk has a line of it, and its first progress, or its final charge where it ends
 * before, makes the record.
 */
export class RecordOpener {
  readonly #options: RecordOpenerOptions;
  readonly #records: RequestRecords;
  readonly #tagRows: TagRows;
  #isRedisAnswering = true;

  constructor(options: RecordOpenerOptions, records: RequestRecords, tagRows: TagRows) {
    this.#options = options;
    this.#records = records;
    this.#tagRows = tagRows;
  }

  /** Whether the request may go upstream on a line of the journal; if not, it needs a hold. */
  async begin(account: RequestAccount, admission: Admission): Promise<boolean> {
    if (!this.#mayBegin(account, admission)) return false;
    const line = await this.#options.spool.journal.append(account.opened);
    if (line === null) return false;
    this.#records.begin(account, line);
    return true;
  }

  #mayBegin(
    { identity, estimatedInputTokens }: RequestAccount,
    { isEntered, requestId, takenTokens }: Admission,
  ): boolean {
    if (!isEntered || !this.#isRedisAnswering) return false;
    if (!isTakenNear(takenTokens, estimatedInputTokens)) return false;
    // Envoy collects the whole body before a worker hears of the request again. One of the future was admitted by a host
    // whose clock does not agree.
    const admittedMs = timeOfId(requestId) ?? 0;
    if (Math.abs(this.#options.clock.nowMs() - admittedMs) > MAX_ADMISSION_AGE_MS) return false;
    const { tags, tagRow, isSessionCapped } = identity;
    // Its hold compares with the session's cap, and says in which row of usage tags count that are new here.
    return isSessionCapped !== true && (tags === undefined || tagRow !== undefined);
  }

  /**
   * It places the request's hold, or puts the request in the spool where Redis does not answer.
   * @throws GatewayError as `createHoldError` says; 503 where Redis does not answer and the request may not go on.
   */
  async hold(account: RequestAccount, admission: Admission, worstCase: WorstCase): Promise<void> {
    const { store, patient, outage, dashboard } = this.#options;
    const hasFallback = !admission.isStrict && outage.isInGrace(admission.organizationId);
    const hold = describeHold(account, admission);
    let placed: PlacedHold;
    try {
      placed = await placeHold(hasFallback ? store : patient, { hold, admission, worstCase, dashboard });
    } catch (thrown) {
      if (thrown instanceof GatewayError) throw thrown;
      const refusal = await this.#goOnWithout(account, admission, thrown);
      if (refusal === null) return;
      // Nobody knows whether the hold is there: a final charge of nothing takes it away.
      this.#records.withdraw(account.identity.requestId);
      void account.settle("not_sent", { status: refusal.status("chat"), errorCode: refusal.publicCode });
      throw refusal;
    }
    this.#isRedisAnswering = true;
    account.limitTo(placed.worstCaseMicrocents, placed.shrunk);
    account.countIn(placed.tagRow);
    this.#tagRows.decided(account.identity, placed.tagRow);
    this.#records.hold(account);
  }

  /**
   * Its hold was not answered: the request is put in the spool instead, where the grace period lets it go on. It is null when
   * the request may go upstream, else the client's error; it is never null with strict caps, nor unless the disk has it.
   */
  async #goOnWithout(
    account: RequestAccount,
    admission: Admission,
    error: unknown,
  ): Promise<GatewayError | null> {
    const { outage, shares, dashboard } = this.#options;
    const { isStrict, keyId, concurrencyLimit } = admission;
    const { organizationId } = account.identity;
    const unavailable = new GatewayError("gateway_unavailable", { cause: error });
    if (isStrict || !isOutOfReach(error)) return unavailable;
    outage.missed(organizationId);
    if (!outage.isInGrace(organizationId)) return unavailable;
    // In the grace period this worker counts by itself, and from before the request is on disk, or many would fit at once.
    const fits = fitsShare(concurrencyLimit, shares(), this.#records.countInFlight(keyId));
    if (!fits) return createConcurrencyError(admission, concurrencyLimit, dashboard);
    this.#records.takePlace(account);
    const isOnDisk = await this.#putInSpool(account, "request rejected: not written to the spool");
    return isOnDisk ? null : unavailable;
  }

  /**
   * A charge before the final one was not answered: the next requests wait for their holds until one is placed. Redis may
   * forget meanwhile that this one was entered, so it is put in the spool as one that nobody knows anything of.
   */
  async onUnanswered(requestId: string): Promise<void> {
    this.#isRedisAnswering = false;
    const state = this.#records.stateOf(requestId);
    if (state.kind !== "unanswered") return;
    await this.#putInSpool(state.account, "a request could not be put in the spool");
  }

  /** Whether the request is on this host's disk now. It never rejects. */
  async #putInSpool({ opened }: RequestAccount, failure: string): Promise<boolean> {
    const { spool, clock, logger } = this.#options;
    try {
      await spool.append({ kind: "open", atMs: clock.nowMs(), opened });
    } catch (error) {
      logger.error({ request_id: opened.requestId, err: error }, failure);
      return false;
    }
    this.#records.recorded(opened.requestId);
    return true;
  }
}

/** A hold says this of its request. */
function describeHold(
  { opened, promptFloorPrice }: RequestAccount,
  { takenTokens, sessionBudgetCents }: Admission,
): HoldToPlace["hold"] {
  const fields = { price: promptFloorPrice, takenTokens, ...opened };
  return sessionBudgetCents === null ? fields : { sessionBudgetCents, ...fields };
}

/**
 * It places a hold.
 * @throws GatewayError as `createHoldError` says; whatever the store rejects with when Redis fails: whether the hold is
 * there is not known then.
 */
async function placeHold(store: Pick<Store, "hold">, input: HoldToPlace): Promise<PlacedHold> {
  const { hold, admission, worstCase, dashboard } = input;
  let worstCaseMicrocents = admission.isStrict ? worstCase.microcents() : null;
  let result = await store.hold(boundFloor(hold, worstCaseMicrocents));
  if (result.outcome === "worst_case_required") {
    // Strict caps were switched on between the admission and the hold.
    worstCaseMicrocents = worstCase.microcents();
    result = await store.hold(boundFloor(hold, worstCaseMicrocents));
  }
  if (isHeld(result)) return { worstCaseMicrocents, tagRow: result.tagRow, shrunk: null };
  // It was so answered though it had a worst case: strict caps were switched off and on again meanwhile.
  if (result.outcome === "worst_case_required") {
    return { worstCaseMicrocents, tagRow: undefined, shrunk: null };
  }
  if (worstCaseMicrocents === null) throw createHoldError(result, admission, null, dashboard);
  return placeShrunk(store, input, { result, worstCaseMicrocents });
}

/**
 * What is asked for does not fit: the request goes with as much of its answer as does, where that is wanted.
 * @throws as `placeHold`.
 */
async function placeShrunk(
  store: Pick<Store, "hold">,
  { hold, admission, worstCase, dashboard }: HoldToPlace,
  refused: { readonly result: HoldRefusal; readonly worstCaseMicrocents: bigint },
): Promise<PlacedHold> {
  let { result } = refused;
  for (let tries = 0; ; tries += 1) {
    const affordable = "figures" in result ? worstCase.afford(roomOf(result.figures)) : null;
    const mayShrink = affordable !== null && tries < MAX_SHRUNK_HOLDS;
    if (!mayShrink || !worstCase.shrinkTo(affordable)) {
      const asked = { worstCaseMicrocents: refused.worstCaseMicrocents, affordable };
      throw createHoldError(result, admission, asked, dashboard);
    }
    const worstCaseMicrocents = worstCase.microcents();
    // The holds go one after the other: each asks for what the one before has found.
    // oxlint-disable-next-line no-await-in-loop
    const next = await store.hold(boundFloor(hold, worstCaseMicrocents));
    if (isHeld(next)) {
      return { worstCaseMicrocents, tagRow: next.tagRow, shrunk: describeShrunk(result, affordable) };
    }
    if (next.outcome === "worst_case_required") {
      return { worstCaseMicrocents, tagRow: undefined, shrunk: describeShrunk(result, affordable) };
    }
    result = next;
  }
}

function isHeld(result: HoldResult): result is Extract<HoldResult, { outcome: "held" | "exists" }> {
  return result.outcome === "held" || result.outcome === "exists";
}

/** Strict caps refuse by the one that leaves least room, so this much fits under all of them. */
function roomOf({ capCents, spentMicrocents, heldMicrocents }: SessionFigures): bigint {
  return roomUnder(capCents, spentMicrocents + heldMicrocents);
}

/** The floor, charged when nobody ever reports a charge, is an estimate, too: it is never above what is held. */
function boundFloor(hold: HoldToPlace["hold"], worstCaseMicrocents: bigint | null): HoldInput {
  const { floorMicrocents } = hold;
  const isAbove = worstCaseMicrocents !== null && floorMicrocents > worstCaseMicrocents;
  return { ...hold, floorMicrocents: isAbove ? worstCaseMicrocents : floorMicrocents, worstCaseMicrocents };
}
