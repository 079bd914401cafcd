/**
 * What a request costs: holds before a request goes upstream, charges while and after its answer passes.
 *
 * It decides what is charged and when; it never refuses anything itself (the store compares with the caps) and never
 * lets a charge be forgotten: a charge that Redis did not acknowledge is tried again until it is. When Redis fails at
 * the hold, the request is refused, because without a record its spend could be lost.
 */
import type { Clock } from "../clock.ts";
import type { Model } from "../catalog/catalog.ts";
import { GatewayError } from "../errors.ts";
import { createCapError } from "../limits/spend-cap.ts";
import type { Store } from "../store/types.ts";
import type { ChargeInput, HoldInput, HoldResult, RequestIdentity } from "../store/types/settlement.ts";
import type { ClientRequest } from "../translation/exchange.ts";
import { type ClientResult, RequestAccount } from "./request-account.ts";
import type { TokenEstimator } from "./token-estimator.ts";
import { worstCaseMicrocents } from "./worst-case.ts";

/** What settlement needs to know of an admission. */
export interface AdmittedRequest {
  readonly requestId: string;
  readonly route: string;
  readonly organizationId: string;
  readonly organizationName: string;
  readonly keyId: string;
  readonly keyName: string;
  readonly currency: string;
  readonly strictCaps: boolean;
  readonly month: string;
  readonly day: string;
}

export interface OpenInput {
  readonly admission: AdmittedRequest;
  readonly model: Model;
  readonly request: ClientRequest;
  readonly bodyBytes: number;
}

export interface SettlementOptions {
  readonly store: Store;
  readonly estimator: TokenEstimator;
  readonly clock: Clock;
  readonly logger: {
    warn(fields: object, message: string): void;
    error(fields: object, message: string): void;
  };
}

/** While an answer streams, its spend is at most this old. Published: a worker that dies loses no more than this. */
const PROGRESS_INTERVAL_MS = 2_000;
/** Holds expire after 30 s without a sign of life from their owner. */
const RENEW_INTERVAL_MS = 10_000;
const FORGET_INTERVAL_MS = 500;
const RETRY_INTERVAL_MS = 250;
/** How long an answer's last piece waits for a charge that Redis does not acknowledge; below ext_proc's 5 s. */
const MAX_ANSWER_DELAY_MS = 3_000;
const MAX_BATCH = 500;

export class Settlement {
  readonly #options: SettlementOptions;
  readonly #open = new Set<RequestAccount>();
  /** Closed records that their owner may delete, by organization. */
  #closed = new Map<string, string[]>();
  readonly #timers: NodeJS.Timeout[] = [];
  /** Charges that are not acknowledged yet. */
  #unacknowledged = 0;

  constructor(options: SettlementOptions) {
    this.#options = options;
  }

  /** Starts the progress charges, renewals and deletions. */
  start(): void {
    const every = (intervalMs: number, run: () => Promise<void>) => {
      const timer = setInterval(() => {
        run().catch((error: unknown) =>
          this.#options.logger.warn({ err: error }, "settlement could not reach Redis"),
        );
      }, intervalMs);
      timer.unref();
      this.#timers.push(timer);
    };
    every(PROGRESS_INTERVAL_MS, () => this.#chargeProgress());
    every(RENEW_INTERVAL_MS, () => this.#renew());
    every(FORGET_INTERVAL_MS, () => this.#forget());
  }

  /** Waits until every open account is settled and every charge acknowledged, at most so long; then stops. */
  async stop(boundMs: number): Promise<void> {
    const { clock } = this.#options;
    const end = clock.monotonicMs() + boundMs;
    while ((this.#open.size > 0 || this.#unacknowledged > 0) && clock.monotonicMs() < end) await delay(20);
    for (const timer of this.#timers) clearInterval(timer);
    await this.#forget();
  }

  /**
   * Places the hold of a request that is about to go upstream.
   * @throws GatewayError 402 when a cap is reached, 503 when Redis cannot be reached.
   */
  async open(input: OpenInput): Promise<RequestAccount> {
    const { admission, model, request, bodyBytes } = input;
    const price = model.prices.get(admission.currency);
    if (price === undefined) throw new GatewayError("model_not_available_in_currency");
    const estimatedInputTokens = this.#options.estimator.estimatePrompt(model.id, bodyBytes);
    const identity = formatIdentity(admission, model);
    const hold: HoldInput = {
      ...identity,
      worstCaseMicrocents: admission.strictCaps ? worstCaseMicrocents(request, model, price) : null,
      floorMicrocents: 0n,
      floorInputTokens: estimatedInputTokens,
    };
    const account = new RequestAccount({
      identity,
      model,
      price,
      bodyBytes,
      estimatedInputTokens,
      worstCaseMicrocents: hold.worstCaseMicrocents,
      estimator: this.#options.estimator,
      charge: (charge, owner) => this.#charge(charge, owner),
      onSettled: (owner) => this.#onSettled(owner),
    });
    await this.#hold({ ...hold, floorMicrocents: account.promptFloorMicrocents }, input);
    this.#open.add(account);
    return account;
  }

  /** An admitted request was refused before its hold: it cost nothing, but its client can look up why. */
  recordRefusal(admission: AdmittedRequest, model: string | null, result: ClientResult): void {
    const { store, logger } = this.#options;
    const { organizationId, keyId, requestId, route } = admission;
    const recorded = Promise.all([
      store.recordRequest({ organizationId, keyId, requestId, route, model, ...result, checks: [] }),
      store.release({ organizationId, keyId }, requestId),
    ]);
    recorded.catch((error: unknown) =>
      logger.warn({ request_id: requestId, err: error }, "a refusal is not recorded"),
    );
  }

  async #hold(hold: HoldInput, { admission, model, request }: OpenInput): Promise<void> {
    const { store } = this.#options;
    let result: HoldResult;
    try {
      result = await store.hold(hold);
      if (result.outcome === "worst_case_required") {
        // Strict caps were switched on between the admission and the hold.
        const price = model.prices.get(admission.currency);
        if (price === undefined) throw new GatewayError("model_not_available_in_currency");
        result = await store.hold({
          ...hold,
          worstCaseMicrocents: worstCaseMicrocents(request, model, price),
        });
      }
    } catch (error) {
      if (error instanceof GatewayError) throw error;
      throw new GatewayError("gateway_unavailable", { cause: error });
    }
    if (result.outcome === "key_cap_reached" || result.outcome === "organization_cap_reached") {
      const isKey = result.outcome === "key_cap_reached";
      const { spentMicrocents, heldMicrocents, hardCapCents } = result.figures;
      throw createCapError({
        scope: isKey ? "key" : "organization",
        name: isKey ? admission.keyName : admission.organizationName,
        hardCapCents: hardCapCents ?? 0,
        spentMicrocents,
        currency: admission.currency,
        month: admission.month,
        ...(hold.worstCaseMicrocents === null
          ? {}
          : { held: { heldMicrocents, worstCaseMicrocents: hold.worstCaseMicrocents } }),
      });
    }
  }

  /** Resolves when the charge is acknowledged, or after a bound, while it goes on trying. */
  async #charge(input: ChargeInput, account: RequestAccount): Promise<void> {
    const { store, clock, logger } = this.#options;
    const started = clock.monotonicMs();
    this.#unacknowledged += 1;
    const acknowledged = (async () => {
      for (;;) {
        try {
          await store.charge(input);
          break;
        } catch (error) {
          account.hasUnansweredCommand = true;
          const waitedMs = clock.monotonicMs() - started;
          if (input.final === null) break;
          logger.warn(
            { request_id: input.requestId, waited_ms: waitedMs, err: error },
            "a charge is tried again",
          );
          await delay(Math.min(5_000, RETRY_INTERVAL_MS + waitedMs / 4));
        }
      }
      this.#unacknowledged -= 1;
    })();
    await within(acknowledged, MAX_ANSWER_DELAY_MS);
  }

  #onSettled(account: RequestAccount): void {
    this.#open.delete(account);
    if (account.hasUnansweredCommand) return;
    const { organizationId, requestId } = account.identity;
    pushTo(this.#closed, organizationId, requestId);
  }

  async #chargeProgress(): Promise<void> {
    await Promise.all(Array.from(this.#open, (account) => account.chargeProgress()));
  }

  async #renew(): Promise<void> {
    const byOrganization = new Map<string, RequestIdentity[]>();
    for (const { identity } of this.#open) pushTo(byOrganization, identity.organizationId, identity);
    for (const [organizationId, identities] of byOrganization) {
      for (const batch of batches(identities)) await this.#options.store.renew(organizationId, batch);
    }
  }

  async #forget(): Promise<void> {
    const closed = this.#closed;
    this.#closed = new Map();
    for (const [organizationId, ids] of closed) {
      for (const batch of batches(ids)) await this.#options.store.forget(organizationId, batch);
    }
  }
}

function formatIdentity(admission: AdmittedRequest, model: Model): RequestIdentity {
  const { organizationId, keyId, requestId, month, day, route } = admission;
  return { organizationId, keyId, requestId, month, day, route, model: model.id };
}

function pushTo<Item>(lists: Map<string, Item[]>, name: string, item: Item): void {
  const list = lists.get(name);
  if (list === undefined) lists.set(name, [item]);
  else list.push(item);
}

function* batches<Item>(items: readonly Item[]): Generator<Item[]> {
  for (let start = 0; start < items.length; start += MAX_BATCH) yield items.slice(start, start + MAX_BATCH);
}

/** Resolves when the promise does, or when the time is up; what it does afterwards is its own business. */
async function within(promise: Promise<void>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeUp = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([promise, timeUp]);
  clearTimeout(timer);
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}
