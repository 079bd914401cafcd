/**
 * Settlement of requests: their record before they go upstream, and charges while and after the response
 * passes.
 * Decides what is charged and when. It never rejects anything itself (the store compares with the caps) and
 * never loses a charge: one that Redis does not acknowledge goes to the spool on this host's disk and is
 * resent until acknowledged. Most requests go upstream on the entry of their admission in Redis and a line of
 * this host's journal; the others wait for a record (`open-record.ts`). If Redis fails to open it, the request
 * is rejected, because its spend could be lost without a record; in the grace period (never with strict caps)
 * it continues once it is on record in the spool. The states of a record are in `record-state.ts`.
 */
import type { Clock } from "../../shared/time/clock.ts";
import { internalWait } from "../../shared/time/internal-waits.ts";
import { GatewayError } from "../../shared/contract/errors.ts";
import type { Admission, EnteredAdmission } from "../limits/admission.ts";
import type { GraceSpend } from "../grace/grace-spend.ts";
import type { Logger } from "../../shared/host/logger.ts";
import { type Price, priceInForce } from "../pricing/price.ts";
import { NO_TOOLS } from "../pricing/tool-charges.ts";
import type { Store } from "../../shared/stored/store.ts";
import type { KeyReference } from "../../shared/stored/admission.ts";
import type { EnteredRequest, RequestIdentity } from "../../shared/stored/settlement.ts";
import { NO_TOKENS } from "../../shared/usage/token-usage.ts";
import { pause } from "../../shared/event-loop/wait.ts";
import { type ChargeListener, ChargeWriter } from "./charge-writer.ts";
import { identifyRequest } from "./identify-request.ts";
import { RecordOpener, type RecordOpenerOptions } from "./open-record.ts";
import { RequestRecords } from "./record-state.ts";
import { estimatePrompt } from "./tokens/estimate-prompt.ts";
import { describeRefusal } from "./refusal-checks.ts";
import { chargeDue, DUE_INTERVAL_MS } from "./charge-due.ts";
import { eachOrganization, pushTo } from "./organization-batches.ts";
import { type ClientResult, formatRequestLogLine, type LoggedRequest } from "../request-log/line.ts";
import { type WorkerAccounts, RequestAccount } from "./request-account.ts";
import type { Ending } from "./settled.ts";
import type { RequestLog } from "../request-log/request-log.ts";
import type { Spool } from "../spool/spool.ts";
import type { ExceededOverhead, TokenEstimator } from "./tokens/token-estimator.ts";
import { refuseUnpricedTier } from "./refuse-tier.ts";
import { refuseUnpricedTools } from "./server-tools.ts";
import { TagRows } from "./tag-rows.ts";
import { OutputMeans } from "../limits/output-means.ts";
import { largestOutputTokens, type SentPrompt, StrictWorstCase } from "./tokens/worst-case.ts";

export interface OpenInput extends SentPrompt {
  /** @see NamedModel */
  readonly requestedModel: string;
}

export interface NamedModel {
  /** Id in the catalog; null: the request named no model. */
  readonly model: string | null;
  /** Name in the request, sanitized; null: its body was not read. */
  readonly requestedModel: string | null;
}

export interface SettlementOptions extends RecordOpenerOptions {
  readonly store: Pick<
    Store,
    | "openRecord"
    | "charge"
    | "renew"
    | "deleteRecords"
    | "removeAbandoned"
    | "recordRequest"
    | "changeOutcome"
  >;
  readonly estimator: TokenEstimator;
  readonly clock: Clock;
  readonly logger: Logger<"warn" | "error">;
  readonly requestLog: Pick<RequestLog, "write" | "close">;
  /** Takes charges that Redis does not take, and requests without a record in Redis. */
  readonly spool: Pick<Spool, "append" | "stop" | "journal">;
  /** Notified of counted charges. */
  readonly spend: Pick<GraceSpend, "counted">;
}

/** Renewal interval. Records expire 30 s after their owner's last renewal. */
const RENEW_INTERVAL_MS = internalWait(10_000);
const DELETE_INTERVAL_MS = 500;

/** Figures of the settlement that are exported as metrics. */
export interface SettlementFigures {
  readonly requestsInFlight: number;
  readonly unacknowledgedCharges: number;
  readonly overheadsExceeded: readonly ExceededOverhead[];
}

export class Settlement {
  readonly #options: SettlementOptions;
  readonly #charges: ChargeWriter;
  readonly #records: RequestRecords;
  readonly #opener: RecordOpener;
  readonly #tagRows = new TagRows();
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #outputMeans = new OutputMeans();
  readonly #accounts: WorkerAccounts = {
    charge: (charge) => this.#charges.write(charge),
    isBegun: (requestId) => this.#records.stateOf(requestId).kind === "begun",
    onCounted: (account, ending) => this.#onCounted(account, ending),
    onSettled: ({ identity }) => this.#records.end(identity.requestId),
  };
  readonly #chargeListener: ChargeListener = {
    onRecord: (requestId) => this.#records.recorded(requestId),
    onUnanswered: ({ requestId, final }) => {
      this.#records.missed(requestId);
      // Final charges go to the spool by themselves.
      if (final === null) void this.#opener.onUnanswered(requestId);
    },
  };

  constructor(options: SettlementOptions) {
    this.#options = options;
    this.#records = new RequestRecords(options.spool.journal);
    this.#opener = new RecordOpener(options, this.#records, this.#tagRows);
    this.#charges = new ChargeWriter({ ...options, listener: this.#chargeListener });
  }

  /** Starts progress charges, renewals and deletions. */
  start(): void {
    this.#startCharging();
    this.#every(RENEW_INTERVAL_MS, () => this.#renew());
    this.#every(DELETE_INTERVAL_MS, () => this.#deleteRecords());
  }

  /**
   * Values for metrics: requests in flight on this worker, and final charges that are neither acknowledged
   * nor in the spool.
   */
  get figures(): SettlementFigures {
    return {
      requestsInFlight: this.#records.sizeInFlight,
      unacknowledgedCharges: this.#charges.unacknowledged,
      overheadsExceeded: this.#options.estimator.exceededOverheads,
    };
  }

  /** Mean output of a key's requests with token limits; 0 if unknown. */
  meanOutput(owner: KeyReference): number {
    return this.#outputMeans.of(owner);
  }

  /** Counts this key's requests in flight on this worker. */
  countOpen(keyId: string): number {
    return this.#records.countInFlight(keyId);
  }

  /**
   * Waits until every account is settled and every charge acknowledged, including those in the spool, for at
   * most the bound; then stops.
   * @throws Error with the number of charges that are not.
   */
  async stop(boundMs: number): Promise<void> {
    const { clock, requestLog, spool } = this.#options;
    const endMs = clock.monotonicMs() + boundMs;
    const pending = () => this.#records.sizeInFlight + this.#charges.unacknowledged;
    while (pending() > 0 && clock.monotonicMs() < endMs) await pause(20, { ref: false });
    for (const timer of this.#timers) clearInterval(timer);
    const isDrained = await spool.stop(Math.max(0, endMs - clock.monotonicMs()));
    await requestLog.close();
    if (pending() > 0) {
      const { sizeInFlight } = this.#records;
      const charges = this.#charges.unacknowledged;
      throw new Error(`${sizeInFlight} requests are not settled, ${charges} charges not acknowledged`);
    }
    if (!isDrained) throw new Error("charges are left in the spool; the next start sends them");
    await this.#deleteRecords();
  }

  /**
   * Puts a request on record before it goes upstream: in this host's journal, or by a record in Redis.
   * @throws GatewayError 400 for a service tier or a server tool without a price, 402 if a cap is reached,
   * 429 if the key's limit of concurrent requests is reached, 503 if Redis is unreachable.
   */
  async open(input: OpenInput): Promise<RequestAccount> {
    const { admission, model } = input;
    const prices = model.prices.get(admission.caller.currency);
    if (prices === undefined) throw new GatewayError("model_not_available_in_currency");
    const price = priceInForce(prices, this.#options.clock.nowMs());
    refuseUnpricedTier(price, model, input.request);
    refuseUnpricedTools(price, model, input.request.serverTools);
    const account = this.#createAccount(input, price);
    if (!(await this.#opener.begin(account, admission))) {
      const worstCase = new StrictWorstCase(input, price, this.#options.estimator);
      await this.#opener.open(account, admission, worstCase);
    }
    account.markRouted(this.#options.clock.monotonicMs());
    return account;
  }

  /** Removes a request that its admission has, or may have, entered among the open requests and that will not go upstream. */
  abandon({ caller, identity, limits }: EnteredAdmission): void {
    const { organizationId, keyId } = caller;
    const { requestId, owners } = identity;
    this.#records.abandon(organizationId, { keyId, requestId, owners, takenTokens: limits.takenTokens });
  }

  /**
   * Records an admitted request that was rejected before it had a record: it cost nothing, but its client can look
   * up the reason.
   */
  recordRefusal(
    admission: Admission,
    { model, requestedModel }: NamedModel,
    result: ClientResult,
    error: GatewayError,
  ): void {
    const { store, logger } = this.#options;
    const { organizationId, keyId, currency } = admission.caller;
    const identity = { ...admission.identity, organizationId, keyId, model };
    if (this.#records.markRefusalReported(identity.requestId)) return;
    this.#log({
      identity: { ...identity, currency, requestedModel: requestedModel ?? undefined },
      price: null,
      outcome: "refused",
      result,
      tokens: NO_TOKENS,
      tools: NO_TOOLS,
      estimated: false,
      costMicrocents: 0n,
    });
    const checks = describeRefusal(error);
    store
      .recordRequest({ ...identity, ...result, checks })
      .catch((error: unknown) =>
        logger.warn({ request_id: identity.requestId, err: error }, "rejected request not recorded"),
      );
  }

  /** Records that the client got an error in place of a response that is charged in full. */
  recordBlockedResponse(
    request: Pick<RequestIdentity, "organizationId" | "requestId">,
    status: number,
    error: GatewayError,
  ): void {
    const { store, logger } = this.#options;
    const outcome = { ...request, status, errorCode: error.publicCode, checks: describeRefusal(error) };
    store
      .changeOutcome(outcome)
      .catch((thrown: unknown) =>
        logger.warn({ request_id: request.requestId, err: thrown }, "blocked response not recorded"),
      );
  }

  #onCounted(account: RequestAccount, { settled, outcome, result }: Ending): void {
    this.#log({
      identity: account.identity,
      price: settled.charged,
      outcome,
      result,
      tokens: settled.tokens,
      tools: settled.tools,
      estimated: settled.estimated,
      costMicrocents: settled.costMicrocents,
      shrunk: account.shrunk,
    });
  }

  #createAccount(input: OpenInput, price: Price): RequestAccount {
    const { model, request } = input;
    const { caller, limits } = input.admission;
    const { estimator } = this.#options;
    return new RequestAccount({
      identity: identifyRequest(input, this.#tagRows),
      model,
      price,
      // Copied, so that the request itself is not kept in memory until the response ends.
      requested: { choices: request.choices, prompts: request.prompts },
      largestOutputTokens: largestOutputTokens(request, model),
      estimator,
      accounts: this.#accounts,
      takenTokens: limits.takenTokens,
      onOutputCounted:
        limits.takenTokens === null ? null : (tokens) => this.#outputMeans.learn(caller, tokens),
      ...estimatePrompt(input, estimator),
    });
  }

  #log(request: LoggedRequest): void {
    const { requestLog, clock } = this.#options;
    requestLog.write(formatRequestLogLine(request, clock.nowMs()));
  }

  /** Runs periodically, never twice at a time. */
  #every(intervalMs: number, run: () => Promise<void>): void {
    let isRunning = false;
    const timer = setInterval(() => {
      if (isRunning) return;
      isRunning = true;
      run()
        .catch((error: unknown) =>
          this.#options.logger.warn({ err: error }, "settlement failed: redis unreachable"),
        )
        .finally(() => {
          isRunning = false;
        });
    }, intervalMs);
    timer.unref();
    this.#timers.push(timer);
  }

  /**
   * Starts the charging timer. Each run comes after the data that arrived in its turn of the event loop, so
   * that data of a blocked process is included. Runs do not wait for each other: an unanswered charge only
   * delays its own request.
   */
  #startCharging(): void {
    const { clock, logger } = this.#options;
    const run = (): void => {
      chargeDue(this.#records.inFlight(), clock.monotonicMs(), async (account) => {
        await account.chargeProgress();
        if (this.#records.isMissing(account.identity.requestId)) await account.chargeOpening();
      }).catch((error: unknown) => logger.warn({ err: error }, "requests in flight not charged"));
    };
    const timer = setInterval(() => setImmediate(run), DUE_INTERVAL_MS);
    timer.unref();
    this.#timers.push(timer);
  }

  async #renew(): Promise<void> {
    const byOrganization = new Map<string, RequestIdentity[]>();
    for (const { identity } of this.#records.inFlight()) {
      pushTo(byOrganization, identity.organizationId, identity);
    }
    await eachOrganization(byOrganization, (...batch) => this.#options.store.renew(...batch));
  }

  async #deleteRecords(): Promise<void> {
    const abandoned = new Map<string, EnteredRequest[]>();
    const closed = new Map<string, string[]>();
    const ended = this.#records.takeEnded();
    for (const { organizationId, request } of ended.abandoned) pushTo(abandoned, organizationId, request);
    for (const { organizationId, requestId } of ended.closed) pushTo(closed, organizationId, requestId);
    const { store } = this.#options;
    await Promise.all([
      eachOrganization(closed, (...batch) => store.deleteRecords(...batch)),
      eachOrganization(abandoned, (...batch) => store.removeAbandoned(...batch)),
    ]);
  }
}
