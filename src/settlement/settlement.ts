/**
 * What a request costs: what is on record before it goes upstream, charges while and after its answer passes.
 *
 * It decides what is charged and when; it never refuses anything itself (the store compares with the caps) and never
 * lets a charge be forgotten: one that Redis did not acknowledge goes to the spool on this host's disk and is sent until
 * it is. Most requests go upstream on what their admission has entered in Redis and a line of this host's journal
 * (`begun-requests.ts`); the others wait for a hold. When Redis fails at the hold, the request is refused, because without
 * a record its spend could be lost; in the grace time (never with strict caps) it goes on once it is on record in the
 * spool.
 */
import type { Clock } from "../time/clock.ts";
import { GatewayError } from "../contract/errors.ts";
import type { Admission } from "../limits/admission.ts";
import { createConcurrencyError, fitsShare } from "../limits/concurrency-limit.ts";
import type { GraceOutage } from "../grace/grace-outage.ts";
import type { GraceSpend } from "../grace/grace-spend.ts";
import type { Logger } from "../host/logger.ts";
import type { DashboardAddress } from "../contract/pages.ts";
import { type Price, priceInForce } from "../pricing/price.ts";
import { NO_TOOLS } from "../pricing/tool-charges.ts";
import type { Store } from "../store/types.ts";
import type { ChargeInput, EnteredRequest, RequestIdentity } from "../store/types/settlement.ts";
import { NO_TOKENS } from "../usage/token-usage.ts";
import { ShortLivedMap } from "../collections/short-lived-map.ts";
import { pause } from "../event-loop/wait.ts";
import { BegunRequests } from "./begun-requests.ts";
import { ChargeWriter } from "./charge-writer.ts";
import { identifyRequest } from "./identify-request.ts";
import { describeHold, placeHold } from "./place-hold.ts";
import { estimatePrompt, type SentPrompt } from "./estimate-prompt.ts";
import { describeRefusal } from "./refusal-checks.ts";
import { chargeDue, DUE_INTERVAL_MS, FIRST_CHARGE_AFTER_MS } from "./charge-due.ts";
import { eachOrganization, pushTo } from "./organization-batches.ts";
import type { ClientResult } from "../request-log/line.ts";
import { type AccountKeeper, RequestAccount } from "./request-account.ts";
import type { Ending } from "./settled.ts";
import type { RequestLog } from "../request-log/request-log.ts";
import { openInSpool } from "./open-in-spool.ts";
import type { Spool } from "../spool/spool.ts";
import { formatRequestLogLine, type LoggedRequest } from "../request-log/line.ts";
import type { TokenEstimator } from "./token-estimator.ts";
import { refuseUnpricedTier } from "./refuse-tier.ts";
import { refuseUnpricedTools } from "./server-tools.ts";
import { TagRows } from "./tag-rows.ts";
import { type ExceededOverhead, TemplateWatch } from "./template-watch.ts";
import { StrictWorstCase } from "./strict-worst-case.ts";
import { largestOutputTokens } from "./worst-case.ts";

export interface OpenInput extends SentPrompt {
  /** @see NamedModel */
  readonly requestedModel: string;
}

/** What a request named as its model. */
export interface NamedModel {
  /** Catalog id; null: it named none. */
  readonly model: string | null;
  /** As the client wrote it, fit to be kept; null: its body was not read. */
  readonly requestedModel: string | null;
}

export interface SettlementOptions {
  readonly store: Pick<Store, "hold" | "charge" | "renew" | "forget" | "leave" | "recordRequest">;
  readonly estimator: TokenEstimator;
  readonly clock: Clock;
  readonly logger: Logger<"warn" | "error">;
  readonly requestLog: Pick<RequestLog, "write" | "close">;
  /** For charges that Redis does not take, and requests that it has no record of yet. */
  readonly spool: Pick<Spool, "append" | "stop" | "journal">;
  /** Learns what was counted. */
  readonly spend: Pick<GraceSpend, "counted">;
  /** Whether requests may go upstream without a hold in Redis. */
  readonly outage: GraceOutage;
  /** How many workers share a key's limits in the grace time. */
  readonly shares: () => number;
  /** Where the message of a 402 leads. */
  readonly dashboard: DashboardAddress;
}

/** Holds expire after 30 s without a sign of life from their owner. */
const RENEW_INTERVAL_MS = 10_000;
const FORGET_INTERVAL_MS = 500;

/** For metrics. */
export interface SettlementFigures {
  readonly openHolds: number;
  readonly unacknowledgedCharges: number;
  readonly overheadsExceeded: readonly ExceededOverhead[];
}

export class Settlement {
  readonly #options: SettlementOptions;
  readonly #charges: ChargeWriter;
  readonly #begun: BegunRequests;
  readonly #templates: TemplateWatch;
  readonly #tagRows = new TagRows();
  /** By request id. */
  readonly #open = new ShortLivedMap<string, RequestAccount>();
  /** Closed records that their owner may delete, by organization. */
  #closed = new Map<string, string[]>();
  /** Among the holds by their admission, and they do not go upstream; by organization. */
  #left = new Map<string, EnteredRequest[]>();
  /** Refused since their hold was not answered; they are recorded by their final charge. */
  readonly #withoutHold = new Set<string>();
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #keeper: AccountKeeper = {
    charge: (charge, account) =>
      this.#charges.write(charge, {
        onUnanswered: () => this.#onUnanswered(account, charge),
        onRecord: () => this.#begun.onRecord(account),
      }),
    onCounted: (account, ending) => this.#onCounted(account, ending),
    onSettled: (account) => this.#onSettled(account),
  };

  constructor(options: SettlementOptions) {
    this.#options = options;
    this.#charges = new ChargeWriter(options);
    this.#begun = new BegunRequests(options);
    this.#templates = new TemplateWatch(options.estimator);
  }

  /** Starts the progress charges, renewals and deletions. */
  start(): void {
    this.#startCharging();
    this.#every(RENEW_INTERVAL_MS, () => this.#renew());
    this.#every(FORGET_INTERVAL_MS, () => this.#forget());
  }

  /** Requests in flight here, and final charges that are neither acknowledged nor in the spool: for metrics. */
  get figures(): SettlementFigures {
    return {
      openHolds: this.#open.size,
      unacknowledgedCharges: this.#charges.unacknowledged,
      overheadsExceeded: this.#templates.exceeded,
    };
  }

  /** Requests of a key that are in flight here. */
  countOpen(keyId: string): number {
    let count = 0;
    for (const { identity } of this.#open.values()) if (identity.keyId === keyId) count += 1;
    return count;
  }

  /**
   * Waits until every open account is settled and every charge acknowledged, those in the spool too, at most so long;
   * then stops.
   * @throws Error saying how many are not.
   */
  async stop(boundMs: number): Promise<void> {
    const { clock, requestLog, spool } = this.#options;
    const endMs = clock.monotonicMs() + boundMs;
    const left = () => this.#open.size + this.#charges.unacknowledged;
    while (left() > 0 && clock.monotonicMs() < endMs) await pause(20, { ref: false });
    for (const timer of this.#timers) clearInterval(timer);
    const isDrained = await spool.stop(Math.max(0, endMs - clock.monotonicMs()));
    await requestLog.close();
    if (left() > 0) {
      const charges = this.#charges.unacknowledged;
      throw new Error(`${this.#open.size} requests are not settled, ${charges} charges not acknowledged`);
    }
    if (!isDrained) throw new Error("charges are left in the spool; the next start sends them");
    await this.#forget();
  }

  /**
   * Puts a request on record that is about to go upstream: in this host's journal, or by its hold.
   * @throws GatewayError 400 for a service tier or a tool of the model's server without a price, 402 when a cap is reached, 429 when the key has as many requests in flight as it may, 503 when
   * Redis cannot be reached.
   */
  async open(input: OpenInput): Promise<RequestAccount> {
    const { admission, model } = input;
    const prices = model.prices.get(admission.currency);
    if (prices === undefined) throw new GatewayError("model_not_available_in_currency");
    const price = priceInForce(prices, this.#options.clock.nowMs());
    refuseUnpricedTier(price, model, input.request);
    refuseUnpricedTools(price, model, input.request.serverTools);
    const account = this.#createAccount(input, price);
    if (!(await this.#begun.begin(account, admission))) {
      await this.#hold(account, input, price);
    }
    account.dueMs = this.#options.clock.monotonicMs() + FIRST_CHARGE_AFTER_MS;
    this.#open.set(account.identity.requestId, account);
    return account;
  }

  /** A request will not go upstream that its admission has, or may have, put among the holds. */
  leave({
    organizationId,
    keyId,
    requestId,
    owners,
    takenTokens,
  }: EnteredRequest & Pick<Admission, "organizationId">): void {
    // A hold that was not answered may be there: only a final charge takes away all of it.
    if (this.#withoutHold.has(requestId)) return;
    pushTo(this.#left, organizationId, { keyId, requestId, owners, takenTokens });
  }

  /** @see Settlement.open */
  async #hold(account: RequestAccount, input: OpenInput, price: Price): Promise<void> {
    const { admission } = input;
    const hold = describeHold(account, admission);
    const worstCase = new StrictWorstCase(input, price, this.#options.estimator);
    try {
      const { store, dashboard } = this.#options;
      const placed = await placeHold(store, { hold, admission, worstCase, dashboard });
      account.limitTo(placed.worstCaseMicrocents, placed.shrunk);
      account.countIn(placed.tagRow);
      this.#tagRows.decided(account.identity, placed.tagRow);
      this.#begun.onHeld();
    } catch (thrown) {
      if (thrown instanceof GatewayError) throw thrown;
      const takePlace = () => this.#takePlace(account, admission);
      const hold = { error: thrown, isStrict: admission.isStrict, takePlace };
      const refusal = await openInSpool(this.#options, account, hold);
      if (refusal !== null) {
        this.#withdraw(account, refusal);
        throw refusal;
      }
    }
  }

  /** An admitted request was refused before its hold: it cost nothing, but its client can look up why. */
  recordRefusal(
    admission: Admission,
    { model, requestedModel }: NamedModel,
    result: ClientResult,
    error: GatewayError,
  ): void {
    const { store, logger } = this.#options;
    const { organizationId, keyId, requestId, route, month, day, currency, tags, session } = admission;
    const owners = admission.owners === "" ? undefined : admission.owners;
    if (this.#withoutHold.delete(requestId)) return;
    this.#log({
      identity: {
        organizationId,
        keyId,
        requestId,
        month,
        day,
        model,
        requestedModel: requestedModel ?? undefined,
        route,
        currency,
        tags,
        owners,
        session: session ?? undefined,
      },
      price: null,
      outcome: "refused",
      result,
      tokens: NO_TOKENS,
      tools: NO_TOOLS,
      estimated: false,
      costMicrocents: 0n,
    });
    const checks = describeRefusal(error);
    const recorded = store.recordRequest({
      organizationId,
      keyId,
      requestId,
      route,
      model,
      tags,
      owners,
      session: session ?? undefined,
      ...result,
      checks,
    });
    recorded.catch((error: unknown) =>
      logger.warn({ request_id: requestId, err: error }, "a refusal is not recorded"),
    );
  }

  /** In the grace time this worker counts by itself: from before the account is on disk, or many would fit at once. */
  #takePlace(account: RequestAccount, admission: Admission): GatewayError | null {
    const { keyId, keyName, concurrencyLimit } = admission;
    const shares = this.#options.shares();
    const fits = fitsShare(concurrencyLimit, shares, this.countOpen(keyId));
    if (!fits) return createConcurrencyError(keyName, concurrencyLimit);
    this.#open.set(account.identity.requestId, account);
    return null;
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
    const { estimator } = this.#options;
    return new RequestAccount({
      identity: identifyRequest(input, this.#tagRows),
      model,
      price,
      // The request itself is not kept for as long as its answer takes.
      asked: { choices: request.choices, prompts: request.prompts },
      largestOutputTokens: largestOutputTokens(request, model),
      estimator,
      onPromptCounted: this.#templates.watch(input),
      keeper: this.#keeper,
      takenTokens: input.admission.takenTokens,
      ...estimatePrompt(input, estimator),
    });
  }

  /** Nobody knows whether the hold is there: a final charge of nothing takes it away. */
  #withdraw(account: RequestAccount, error: GatewayError): void {
    account.hasUnansweredCommand = true;
    this.#withoutHold.add(account.identity.requestId);
    void account.settle("not_sent", { status: error.status("chat"), errorCode: error.publicCode });
  }

  #onUnanswered(account: RequestAccount, { final }: ChargeInput): void {
    account.hasUnansweredCommand = true;
    // A final charge goes to the spool itself.
    if (final === null) void this.#begun.onUnanswered(account);
  }

  #onSettled(account: RequestAccount): void {
    const { organizationId, requestId } = account.identity;
    this.#open.delete(requestId);
    if (account.hasUnansweredCommand) return;
    pushTo(this.#closed, organizationId, requestId);
  }

  #log(request: LoggedRequest): void {
    const { requestLog, clock } = this.#options;
    requestLog.write(formatRequestLogLine(request, clock.nowMs()));
  }

  /** Runs again and again, never twice at a time. */
  #every(intervalMs: number, run: () => Promise<void>): void {
    let isRunning = false;
    const timer = setInterval(() => {
      if (isRunning) return;
      isRunning = true;
      run()
        .catch((error: unknown) =>
          this.#options.logger.warn({ err: error }, "settlement could not reach Redis"),
        )
        .finally(() => {
          isRunning = false;
        });
    }, intervalMs);
    timer.unref();
    this.#timers.push(timer);
  }

  /**
   * Behind what has arrived in this turn of the event loop: what came while this process had no turn is charged with it.
   * No run waits for the one before: whose charge is not answered keeps nobody waiting but itself.
   */
  #startCharging(): void {
    const { clock, logger } = this.#options;
    const run = (): void => {
      chargeDue(this.#open.values(), clock.monotonicMs(), async (account) => {
        await account.chargeProgress();
        if (this.#begun.has(account)) await account.chargeOpening();
      }).catch((error: unknown) => logger.warn({ err: error }, "requests in flight could not be charged"));
    };
    const timer = setInterval(() => setImmediate(run), DUE_INTERVAL_MS);
    timer.unref();
    this.#timers.push(timer);
  }

  async #renew(): Promise<void> {
    const byOrganization = new Map<string, RequestIdentity[]>();
    for (const { identity } of this.#open.values()) pushTo(byOrganization, identity.organizationId, identity);
    await eachOrganization(byOrganization, (...batch) => this.#options.store.renew(...batch));
  }

  async #forget(): Promise<void> {
    const closed = this.#closed;
    this.#closed = new Map();
    const left = this.#left;
    this.#left = new Map();
    const { store } = this.#options;
    await Promise.all([
      eachOrganization(closed, (...batch) => store.forget(...batch)),
      eachOrganization(left, (...batch) => store.leave(...batch)),
    ]);
  }
}
