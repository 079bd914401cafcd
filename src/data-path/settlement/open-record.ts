/**
 * Puts a request on record before it goes upstream: by a line of this host's journal, by a record in Redis, or,
 * if Redis does not answer and the grace period allows it, by an entry in the spool.
 */
import type { Clock } from "../../shared/time/clock.ts";
import { GatewayError } from "../../shared/contract/errors.ts";
import type { DashboardAddress } from "../../shared/contract/pages.ts";
import type { GraceOutage } from "../grace/grace-outage.ts";
import { isUnreachable } from "../grace/unreachable.ts";
import type { Logger } from "../../shared/host/logger.ts";
import type { Admission } from "../limits/admission.ts";
import { createConcurrencyError, fitsShare } from "../limits/errors/concurrency-limit.ts";
import { createOpenError, describeShrunk, type OpenRefusal } from "../limits/errors/open-error.ts";
import { remainingOfLimit } from "../../shared/money/money.ts";
import type { Spool } from "../spool/spool.ts";
import { timeOfId } from "../store/ids.ts";
import type { Store } from "../../shared/stored/store.ts";
import type { OpenRecordInput, OpenRecordResult, SessionFigures } from "../../shared/stored/settlement.ts";
import type { RequestRecords } from "./record-state.ts";
import type { AccountTerms, RequestAccount } from "./request-account.ts";
import type { StrictWorstCase } from "./tokens/worst-case.ts";
import type { TagRows } from "./tag-rows.ts";
import { isEstimateClose } from "./tokens/used-tokens.ts";

export interface RecordOpenerOptions {
  readonly store: Pick<Store, "openRecord">;
  /** Store with a longer timeout, for requests that cannot continue without a reply. */
  readonly patient: Pick<Store, "openRecord">;
  readonly spool: Pick<Spool, "append" | "journal">;
  /** Decides whether requests may go upstream without a record in Redis. */
  readonly outage: GraceOutage;
  /** Returns how many workers share a key's limits in the grace period. */
  readonly workerCount: () => number;
  readonly clock: Pick<Clock, "nowMs">;
  readonly logger: Logger<"error">;
  /** Address for the message of a 402. */
  readonly dashboard: DashboardAddress;
}

/** Calculations that strict caps need for a request. */
type WorstCase = Pick<StrictWorstCase, "microcents" | "afford" | "shrinkTo">;

/** Input that all attempts to open one record share. */
interface RecordToOpen {
  readonly record: Omit<OpenRecordInput, "worstCaseMicrocents">;
  readonly admission: Admission;
  readonly worstCase: WorstCase;
  readonly dashboard: DashboardAddress;
}

/** Maximum age of an admission without a record, because its comparison with the caps must be recent. */
const MAX_ADMISSION_AGE_MS = 1_000;
/** Attempts with a lowered output limit: other requests may take the remaining amount in between. */
const MAX_SHRUNK_TRIES = 3;

/**
 * Puts requests on record. Most requests start on a line of the journal. `openRecord` is the most expensive
 * command; if it could not reject the request (no strict caps, no concurrency limit), its record only matters
 * if this worker dies. In that case the admission's entry in Redis and the journal's line are enough, and the
 * first charge creates the record.
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

  /** Returns whether the request may go upstream on a line of the journal; otherwise it needs a record. */
  async begin(account: RequestAccount, admission: Admission): Promise<boolean> {
    if (!this.#canBegin(account, admission)) return false;
    const line = await this.#options.spool.journal.append(account.opened);
    if (line === null) return false;
    this.#records.begin(account, line);
    return true;
  }

  #canBegin({ identity, estimatedInputTokens }: RequestAccount, { limits }: Admission): boolean {
    if (!limits.isEntered || !this.#isRedisAnswering) return false;
    if (!isEstimateClose(limits.takenTokens, estimatedInputTokens)) return false;
    // The admission is old if Envoy took long to collect the body. Its time is in the future if the admitting
    // host's clock is ahead.
    const admittedMs = timeOfId(identity.requestId) ?? 0;
    if (Math.abs(this.#options.clock.nowMs() - admittedMs) > MAX_ADMISSION_AGE_MS) return false;
    const { tags, tagRow, isSessionCapped } = identity;
    // `openRecord` checks the session's cap, and assigns the usage row of new tag combinations.
    return isSessionCapped !== true && (tags === undefined || tagRow !== undefined);
  }

  /**
   * Opens the request's record, or puts the request in the spool if Redis does not answer.
   * @throws GatewayError of `createOpenError`; 503 if Redis does not answer and the request must not
   * continue.
   */
  async open(account: RequestAccount, admission: Admission, worstCase: WorstCase): Promise<void> {
    const { store, patient, outage, dashboard } = this.#options;
    const hasFallback = !admission.limits.isStrict && outage.isInGrace(admission.caller.organizationId);
    const record = describeRecord(account, admission);
    let opened: AccountTerms;
    try {
      opened = await openRecord(hasFallback ? store : patient, { record, admission, worstCase, dashboard });
    } catch (thrown) {
      if (thrown instanceof GatewayError) throw thrown;
      const refusal = await this.#continueInSpool(account, admission, thrown);
      if (refusal === null) return;
      // It is unknown whether the record exists: a final charge of zero removes it.
      this.#records.withdraw(account.identity.requestId);
      void account.settle("not_sent", { status: refusal.status("chat"), errorCode: refusal.publicCode });
      throw refusal;
    }
    this.#isRedisAnswering = true;
    account.setTerms(opened);
    this.#tagRows.decided(account.identity, opened.tagRow);
    this.#records.open(account);
  }

  /**
   * Puts the request in the spool after `openRecord` was not answered, if the grace period allows it. Returns null
   * if the request may go upstream: the disk then has its entry, and caps are not strict. Otherwise returns the
   * client's error.
   */
  async #continueInSpool(
    account: RequestAccount,
    admission: Admission,
    error: unknown,
  ): Promise<GatewayError | null> {
    const { outage, workerCount, dashboard } = this.#options;
    const { isStrict, concurrencyLimit } = admission.limits;
    const { organizationId, keyId } = admission.caller;
    const unavailable = new GatewayError("gateway_unavailable", { cause: error });
    if (isStrict || !isUnreachable(error)) return unavailable;
    outage.missed(organizationId);
    if (!outage.isInGrace(organizationId)) return unavailable;
    // During the grace period this worker counts by itself, starting before the request is on disk, so that
    // simultaneous requests do not all fit.
    const fits = fitsShare(concurrencyLimit, workerCount(), this.#records.countInFlight(keyId));
    if (!fits) return createConcurrencyError(admission.caller, concurrencyLimit, dashboard);
    this.#records.reserveSlot(account);
    const isOnDisk = await this.#putInSpool(account, "request rejected: not written to the spool");
    return isOnDisk ? null : unavailable;
  }

  /**
   * Handles an unanswered charge before the final one: the next requests wait for their records until one is
   * opened. Redis may meanwhile expire this request's entry, so it is put in the spool as a request without
   * any record.
   */
  async onUnanswered(requestId: string): Promise<void> {
    this.#isRedisAnswering = false;
    const state = this.#records.stateOf(requestId);
    if (state.kind !== "unanswered") return;
    await this.#putInSpool(state.account, "a request could not be put in the spool");
  }

  /** Returns whether the request is on this host's disk now. Never rejects. */
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

/** Builds the input of `openRecord`. */
function describeRecord(
  { opened, promptFloorPrice }: RequestAccount,
  { limits: { takenTokens, sessionBudgetCents } }: Admission,
): RecordToOpen["record"] {
  const fields = { price: promptFloorPrice, takenTokens, ...opened };
  return sessionBudgetCents === null ? fields : { sessionBudgetCents, ...fields };
}

/**
 * Opens a record.
 * @throws GatewayError of `createOpenError`; the store's error if Redis fails, and then it is unknown whether
 * the record exists.
 */
async function openRecord(store: Pick<Store, "openRecord">, input: RecordToOpen): Promise<AccountTerms> {
  const { record, admission, worstCase, dashboard } = input;
  let worstCaseMicrocents = admission.limits.isStrict ? worstCase.microcents() : null;
  let result = await store.openRecord(boundFloor(record, worstCaseMicrocents));
  if (result.outcome === "worst_case_required") {
    // Strict caps were enabled between the admission and this step.
    worstCaseMicrocents = worstCase.microcents();
    result = await store.openRecord(boundFloor(record, worstCaseMicrocents));
  }
  if (isOpened(result)) return { worstCaseMicrocents, tagRow: result.tagRow, shrunk: null };
  // Strict caps were disabled and enabled again meanwhile, since the request had a worst case.
  if (result.outcome === "worst_case_required") {
    return { worstCaseMicrocents, tagRow: undefined, shrunk: null };
  }
  if (worstCaseMicrocents === null) throw createOpenError(result, admission, null, dashboard);
  return openShrunk(store, input, { result, worstCaseMicrocents });
}

/**
 * Opens a record with a lower output limit if the requested one does not fit and the organization or key
 * allows it.
 * @throws like `openRecord`.
 */
async function openShrunk(
  store: Pick<Store, "openRecord">,
  { record, admission, worstCase, dashboard }: RecordToOpen,
  refused: { readonly result: OpenRefusal; readonly worstCaseMicrocents: bigint },
): Promise<AccountTerms> {
  let { result } = refused;
  for (let tries = 0; ; tries += 1) {
    const affordable = "figures" in result ? worstCase.afford(remainingOfSession(result.figures)) : null;
    const canShrink = affordable !== null && tries < MAX_SHRUNK_TRIES;
    if (!canShrink || !worstCase.shrinkTo(affordable)) {
      const requested = { worstCaseMicrocents: refused.worstCaseMicrocents, affordable };
      throw createOpenError(result, admission, requested, dashboard);
    }
    const worstCaseMicrocents = worstCase.microcents();
    // Sequential, because each attempt requests the amount that the previous one found.
    // oxlint-disable-next-line no-await-in-loop
    const next = await store.openRecord(boundFloor(record, worstCaseMicrocents));
    if (isOpened(next)) {
      return { worstCaseMicrocents, tagRow: next.tagRow, shrunk: describeShrunk(result, affordable) };
    }
    if (next.outcome === "worst_case_required") {
      return { worstCaseMicrocents, tagRow: undefined, shrunk: describeShrunk(result, affordable) };
    }
    result = next;
  }
}

function isOpened(
  result: OpenRecordResult,
): result is Extract<OpenRecordResult, { outcome: "opened" | "exists" }> {
  return result.outcome === "opened" || result.outcome === "exists";
}

/**
 * Returns the remaining amount of the cap that rejected the request. With strict caps it is the tightest one, so
 * the amount fits under all caps.
 */
function remainingOfSession({ capCents, spentMicrocents, heldMicrocents }: SessionFigures): bigint {
  return remainingOfLimit(capCents, spentMicrocents + heldMicrocents);
}

/** Bounds the floor, an estimate that is charged if no charge is ever reported, by the reserved amount. */
function boundFloor(record: RecordToOpen["record"], worstCaseMicrocents: bigint | null): OpenRecordInput {
  const { floorMicrocents } = record;
  const isAbove = worstCaseMicrocents !== null && floorMicrocents > worstCaseMicrocents;
  return { ...record, floorMicrocents: isAbove ? worstCaseMicrocents : floorMicrocents, worstCaseMicrocents };
}
