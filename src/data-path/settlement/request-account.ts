/**
 * Account of one request, from the opening of its record to its final charge. A charge never adds: it sets the request's total
 * with a sequence number, so that a repeated, late or reordered charge counts once.
 */
import type { Model } from "../catalog/catalog.ts";
import { chooseRates, isPricedTier, leastCost, type Price } from "../pricing/price.ts";
import { reportCost } from "../pricing/cost-report.ts";
import { costMicrocents, promptTokensOf } from "../pricing/rates.ts";
import { chargeTools, NO_TOOLS } from "../pricing/tool-charges.ts";
import { NO_USES } from "../../shared/usage/server-tools.ts";
import type { Shrunk } from "../limits/errors/spend-cap.ts";
import type { ClientResult, Outcome } from "../request-log/line.ts";
import type { Check } from "../../shared/stored/reporting.ts";
import type { ChargeInput, BilledRequest } from "../../shared/stored/settlement.ts";
import type { Answer, DescribeCost, Observation } from "../translation/client-protocol.ts";
import { NO_TOKENS, plainTokens, type TokenUsage } from "../../shared/usage/token-usage.ts";
import { type OpenedRequest, openingCharge } from "../spool/opened-request.ts";
import type { TakenTokens, UsedTokens } from "../../shared/stored/token-rate.ts";
import { commandsSent } from "../../shared/event-loop/turn-end.ts";
import { FIRST_CHARGE_AFTER_MS, NEXT_CHARGE_AFTER_MS } from "./charge-due.ts";
import type { EstimatedPrompt } from "./tokens/estimate-prompt.ts";
import { checkOf, formatEstimate, formatFinal, toolsOf } from "./format-settled.ts";
import type { Ending, Settled } from "./settled.ts";
import type { TokenEstimator, TokenSubject } from "./tokens/token-estimator.ts";
import { type RequestedAnswers, isUsageOfOne, withAllPrompts } from "./usage-of-one.ts";
import { countUsedTokens, hasFailedBefore } from "./tokens/used-tokens.ts";

export interface AccountOptions extends EstimatedPrompt {
  readonly identity: BilledRequest;
  readonly model: Pick<Model, "id">;
  /** Price in force when the request was put on record. */
  readonly price: Price;
  readonly requested: RequestedAnswers;
  /** Maximum number of output tokens; estimates never exceed it. */
  readonly largestOutputTokens: number;
  readonly estimator: Pick<
    TokenEstimator,
    "estimateOutput" | "countOutput" | "minimumPromptTokens" | "minimumOutputTokens" | "learn"
  >;
  readonly accounts: WorkerAccounts;
  /** Tokens that the admission took from token limits; null without token limits. */
  readonly takenTokens: TakenTokens | null;
  /** Called at the end with the output tokens that count towards token limits; null: not needed. */
  readonly onOutputCounted: ((outputTokens: number) => void) | null;
}

/** Owner of all accounts of a worker. */
export interface WorkerAccounts {
  /**
   * Writes a charge. Resolves to true when it is on record, to false when everything possible was done. Never
   * rejects.
   */
  charge(input: ChargeInput): Promise<boolean>;
  /** Returns whether the request only has its line of the journal, and no charge was left unanswered. */
  isBegun(requestId: string): boolean;
  /** Called when the request's cost is known and its charge is not on record yet. */
  onCounted(account: RequestAccount, ending: Ending): void;
  /** Called when every charge has ended. */
  onSettled(account: RequestAccount): void;
}

/** Terms of the request's record. */
export interface AccountTerms {
  /** Reserved amount, which bounds all charges and estimates; null without strict caps. */
  readonly worstCaseMicrocents: bigint | null;
  /** Usage row that every charge repeats; see RequestIdentity. */
  readonly tagRow: string | undefined;
  /** Lowered output limit of the request; null: unchanged. */
  readonly shrunk: Shrunk | null;
}

/** The request goes upstream. */
interface Routed {
  readonly kind: "routed";
  /** Response, whose observation reports the usage so far. */
  answer: Answer | null;
  /** Number of the last charge. */
  sequence: number;
  /** Time of the next charge, by a monotonic clock. */
  dueMs: number;
  /** Charge for which the account's end and the next charge wait. */
  progress: Promise<boolean> | null;
  /** Lower bound and best estimate of the last acknowledged progress charge. */
  acknowledged: { readonly counted: bigint; readonly estimate: bigint };
}

/** Terms can change only until the request is routed. The final charge can follow from either state. */
type AccountState =
  | { readonly kind: "opening"; readonly answer: null }
  | Routed
  | { readonly kind: "settling"; readonly answer: Answer | null; readonly settled: Promise<Settled> };

const NOTHING = { counted: 0n, estimate: 0n };

export class RequestAccount {
  readonly price: Price;
  readonly estimatedInputTokens: number;
  readonly #options: AccountOptions;
  #identity: BilledRequest;
  #terms: AccountTerms | null = null;
  #state: AccountState = { kind: "opening", answer: null };

  constructor(options: AccountOptions) {
    this.#identity = options.identity;
    this.price = options.price;
    this.estimatedInputTokens = options.estimatedInputTokens;
    this.#options = options;
  }

  get identity(): BilledRequest {
    return this.#identity;
  }

  /** Lowered output limit; null: unchanged. */
  get shrunk(): Shrunk | null {
    return this.#terms?.shrunk ?? null;
  }

  setTerms(terms: AccountTerms): void {
    if (this.#state.kind !== "opening") throw new Error(`terms while ${this.#state.kind}`);
    this.#terms = terms;
    if (terms.tagRow !== undefined) this.#identity = { ...this.#identity, tagRow: terms.tagRow };
  }

  /** Marks the request as going upstream: from now on it is charged periodically. */
  markRouted(nowMs: number): void {
    if (this.#state.kind !== "opening") throw new Error(`a route while ${this.#state.kind}`);
    this.#state = createRouted(nowMs + FIRST_CHARGE_AFTER_MS);
  }

  observe(answer: Answer): void {
    if (this.#state.kind !== "routed") throw new Error(`a response while ${this.#state.kind}`);
    this.#state.answer = answer;
  }

  /** Returns whether a charge is due, and schedules the next one. */
  takeDue(nowMs: number): boolean {
    if (this.#state.kind !== "routed" || this.#state.dueMs > nowMs) return false;
    this.#state.dueMs = nowMs + NEXT_CHARGE_AFTER_MS;
    return true;
  }

  /**
   * Describes the cost so far for the client. Returns undefined if the reported usage does not cover everything
   * that was generated.
   */
  readonly describeCost: DescribeCost = ({ usage: tokens, serviceTier, toolUses }) => {
    const { answer } = this.#state;
    if (answer !== null && !this.#coversAll(answer.observation)) return {};
    const charged = chooseRates(this.price, serviceTier, promptTokensOf(tokens));
    const tools = chargeTools(this.price.serverTools, toolUses);
    return reportCost({ tokens, tools, charged, currency: this.#identity.currency });
  };

  /** Estimated cost of the prompt, charged if usage is never reported. */
  get promptFloorMicrocents(): bigint {
    return this.#promptFloor.costMicrocents;
  }

  /** Price at which the prompt's estimated cost was computed. */
  get promptFloorPrice(): Check {
    return checkOf(this.#promptFloor, this.#identity.currency);
  }

  get #promptFloor(): Settled {
    return this.#price(plainTokens(this.estimatedInputTokens, 0), true);
  }

  get #largestOutputTokens(): number {
    const { requested, largestOutputTokens } = this.#options;
    return this.shrunk === null ? largestOutputTokens : requested.choices * this.shrunk.maxTokens;
  }

  /** Entry that represents the request while Redis has no record of it. */
  get opened(): OpenedRequest {
    return {
      floorMicrocents: this.promptFloorMicrocents,
      floorInputTokens: this.estimatedInputTokens,
      ...this.#identity,
    };
  }

  /**
   * While a response streams, charges what was certainly used so far, with the best estimate for a worker
   * that must close the request in our place. Skipped before the first generated piece, if nothing has
   * changed, while the previous charge is on its way, or shortly before the end. Never rejects.
   */
  async chargeProgress(): Promise<void> {
    const routed = this.#state;
    if (routed.kind !== "routed" || routed.progress !== null) return;
    const { answer, acknowledged } = routed;
    if (answer === null || answer.observation.generatedDeltas === 0) return;
    const { observation } = answer;
    const counted = this.#limit(this.#countAtLeast(observation));
    const estimate = this.#limit(this.#estimateSoFar(observation));
    const charged = { counted: counted.costMicrocents, estimate: estimate.costMicrocents };
    if (charged.counted === acknowledged.counted && charged.estimate === acknowledged.estimate) return;
    const progress = this.#charge(routed, { ...counted, estimated: estimate.estimated }, estimate, null);
    // An unacknowledged charge is sent again with the next one, even if the stream stalls.
    if (await watch(routed, progress)) routed.acknowledged = charged;
  }

  /** Creates the record of a request without one, as long as nothing was generated. Never rejects. */
  async chargeOpening(): Promise<void> {
    const routed = this.#state;
    if (routed.kind !== "routed" || routed.progress !== null || routed.sequence > 0) return;
    await watch(routed, this.#options.accounts.charge(openingCharge(this.opened, this.promptFloorPrice)));
  }

  /**
   * Sends the final charge. Further calls return the result of the first. Resolves when the client may see
   * the end of the response. Never rejects.
   */
  settle(outcome: Outcome, result: ClientResult): Promise<Settled> {
    const from = this.#state;
    if (from.kind === "settling") return from.settled;
    const settled = this.#settle(from.kind === "opening" ? createRouted(Infinity) : from, outcome, result);
    this.#state = { kind: "settling", answer: from.answer, settled };
    return settled;
  }

  async #settle(routed: Routed, outcome: Outcome, result: ClientResult): Promise<Settled> {
    const { accounts } = this.#options;
    const counted = this.#countFinally(outcome);
    // Don't await a value we already have, so that the charge is sent in this turn.
    const settled = counted instanceof Promise ? await counted : counted;
    this.#learn(settled);
    const ending = { settled, outcome, result };
    accounts.onCounted(this, ending);
    // No charge was due yet, so only the journal has the request. If this process dies before Redis has the
    // final charge, the line has the prompt's cost; only the output of the last two seconds is missing, no
    // more than for a request in flight.
    const isSingleCharge = routed.progress === null && accounts.isBegun(this.#identity.requestId);
    const end = (): void => accounts.onSettled(this);
    const sent = this.#charge(routed, settled, null, ending, isSingleCharge);
    // The record is deleted only after every command was answered; the client does not wait for this.
    const charged = sent.then(() => (routed.progress === null ? end() : void routed.progress.then(end)));
    await (isSingleCharge ? commandsSent() : charged);
    return settled;
  }

  #countFinally(outcome: Outcome): Settled | Promise<Settled> {
    if (outcome === "not_sent" || outcome === "refused_by_upstream") return this.#nothing();
    const observation = this.#state.answer?.observation;
    if (observation === undefined) return this.#estimate(null, 0);
    const { usage } = observation;
    if (usage !== null && this.#coversAll(observation)) return this.#price(usage, false);
    if (outcome === "complete" && observation.isZeroUsage) return this.#nothing();
    const { estimator } = this.#options;
    // Never fewer tokens than already counted as spend.
    const atLeast = estimator.minimumOutputTokens(this.#subject, observation);
    return estimator
      .countOutput(this.#subject, observation)
      .then((tokens) =>
        usage !== null && this.#coversAll(observation, tokens)
          ? this.#price(usage, false)
          : this.#estimate(usage, Math.max(tokens, atLeast)),
      );
  }

  #estimateSoFar(observation: Observation): Settled {
    const { usage } = observation;
    if (usage !== null && this.#coversAll(observation)) return this.#price(usage, false);
    return this.#estimate(usage, this.#options.estimator.estimateOutput(this.#subject, observation));
  }

  /**
   * Returns whether the upstream's usage covers everything that was generated. @param counted Tokens by the
   * tokenizer; omitted: estimated from bytes.
   */
  #coversAll(observation: Observation, counted?: number): boolean {
    const { usage, isUsageIncomplete } = observation;
    const { requested, estimator } = this.#options;
    if (usage === null || isUsageIncomplete) return false;
    if (requested.choices === 1) return true;
    return !isUsageOfOne(usage, counted ?? estimator.estimateOutput(this.#subject, observation));
  }

  /**
   * Returns a lower bound of the request's cost: the upstream's figures if it reports some, otherwise the
   * fewest tokens that the text can have, each at its cheapest possible price, since an upstream may only
   * report at the end how many tokens were cached or reasoning, and at which service tier it served.
   */
  #countAtLeast(observation: Observation): Settled {
    const { usage } = observation;
    const { estimator, promptVisibleTextBytes } = this.#options;
    const known =
      usage ?? plainTokens(estimator.minimumPromptTokens(this.#subject, promptVisibleTextBytes), 0);
    const isReported = usage !== null && !observation.isUsageIncomplete;
    const atLeast = isReported ? 0 : estimator.minimumOutputTokens(this.#subject, observation);
    const outputTokens = Math.max(known.outputTokens, Math.min(this.#largestOutputTokens, atLeast));
    const tokens: TokenUsage = { ...known, outputTokens };
    const inputTokens = promptTokensOf(tokens);
    const cost = leastCost(this.price, { inputTokens, outputTokens });
    return { ...this.#price(tokens, true), tools: NO_TOOLS, costMicrocents: cost };
  }

  get #subject(): TokenSubject {
    return { model: this.#options.model.id, organizationId: this.#identity.organizationId };
  }

  /** Bounds the cost by the reserved amount (strict caps). */
  #limit(settled: Settled): Settled {
    const limit = this.#terms?.worstCaseMicrocents ?? null;
    return limit === null || settled.costMicrocents <= limit
      ? settled
      : { ...settled, costMicrocents: limit, isBoundedByHold: true };
  }

  /** Combines the upstream's counts, if any, with estimates at the plain price for the rest. */
  #estimate(usage: TokenUsage | null, estimatedOutput: number): Settled {
    const { estimatedInputTokens } = this;
    const known =
      usage === null
        ? plainTokens(estimatedInputTokens, 0)
        : withAllPrompts(usage, estimatedInputTokens, this.#options.requested);
    const capped = Math.min(estimatedOutput, this.#largestOutputTokens);
    return this.#limit(this.#price({ ...known, outputTokens: Math.max(known.outputTokens, capped) }, true));
  }

  /**
   * Prices tokens at the service tier that the upstream named and for the whole prompt's size, including
   * tools that it ran.
   */
  #price(tokens: TokenUsage, estimated: boolean): Settled {
    const { serviceTier: named = null, toolUses = NO_USES } = this.#state.answer?.observation ?? {};
    const charged = chooseRates(this.price, named, promptTokensOf(tokens));
    const unpricedServiceTier = named === null || isPricedTier(this.price, named) ? null : named;
    const tools = chargeTools(this.price.serverTools, toolUses);
    const cost = costMicrocents(tokens, charged.rates, tools);
    return { tokens, tools, costMicrocents: cost, estimated, charged, unpricedServiceTier };
  }

  #countUsedTokens(settled: Settled, ending: Ending | null): UsedTokens | undefined {
    const { takenTokens, onOutputCounted } = this.#options;
    if (takenTokens === null) return undefined;
    const generated = this.#state.answer?.observation.generatedDeltas ?? 0;
    const hasFailed = hasFailedBefore(generated, settled, ending);
    if (ending !== null && !hasFailed) onOutputCounted?.(settled.tokens.outputTokens);
    return countUsedTokens(takenTokens, hasFailed ? NO_TOKENS : settled.tokens);
  }

  /** Returns a cost of zero, without the fee of a request. */
  #nothing(): Settled {
    const nothing = { tools: NO_TOOLS, costMicrocents: 0n, unpricedServiceTier: null };
    return { ...this.#price(NO_TOKENS, false), ...nothing };
  }

  #learn({ tokens, estimated }: Settled): void {
    const observation = this.#state.answer?.observation;
    if (estimated || observation === undefined || tokens === NO_TOKENS) return;
    const { estimator, promptBytes, template } = this.#options;
    estimator.learn(this.#subject, {
      promptBytes,
      promptTokens: promptTokensOf(tokens),
      template,
      generatedBytes: observation.generatedBytes,
      generatedDeltas: observation.generatedDeltas,
      outputTokens: tokens.outputTokens,
    });
  }

  /** @param ending Null while the request is in flight; `estimate` is then its possible cost. */
  #charge(
    routed: Routed,
    settled: Settled,
    estimate: Settled | null,
    ending: Ending | null,
    isSingleCharge = false,
  ): Promise<boolean> {
    routed.sequence += 1;
    const { currency } = this.#identity;
    const input: ChargeInput = {
      totalMicrocents: settled.costMicrocents,
      toolMicrocents: toolsOf(settled),
      sequence: routed.sequence,
      tokens: settled.tokens,
      requests: ending?.outcome === "not_sent" ? 0 : 1,
      estimated: settled.estimated,
      estimate: estimate === null ? null : formatEstimate(estimate, currency),
      final: ending === null ? null : formatFinal(ending, currency, this.shrunk),
      isSingleCharge: isSingleCharge ? true : undefined,
      usedTokens: this.#countUsedTokens(estimate ?? settled, ending),
      ...this.#identity,
    };
    return this.#options.accounts.charge(input);
  }
}

function createRouted(dueMs: number): Routed {
  return { kind: "routed", answer: null, sequence: 0, dueMs, progress: null, acknowledged: NOTHING };
}

async function watch(routed: Routed, progress: Promise<boolean>): Promise<boolean> {
  routed.progress = progress;
  const isAcknowledged = await progress;
  routed.progress = null;
  return isAcknowledged;
}
