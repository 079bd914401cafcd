/**
 * The account of one request, from its hold to its final charge. A charge never adds: it sets the request's total, with
 * a sequence number, so that a repeated, late or reordered one counts once.
 */
import type { Model } from "../catalog/catalog.ts";
import { chooseRates, isPricedTier, leastCost, type Price } from "../pricing/price.ts";
import { reportCost } from "../pricing/cost-report.ts";
import { costMicrocents, promptTokensOf } from "../pricing/rates.ts";
import { chargeTools, NO_TOOLS } from "../pricing/tool-charges.ts";
import { NO_USES } from "../../shared/usage/server-tools.ts";
import type { Shrunk } from "../limits/spend-cap.ts";
import type { ClientResult, Outcome } from "../request-log/line.ts";
import type { Check } from "../store/types/reporting.ts";
import type { ChargeInput, BilledRequest } from "../store/types/settlement.ts";
import type { Answer, DescribeCost, Observation } from "../translation/client-protocol.ts";
import { NO_TOKENS, plainTokens, type TokenUsage } from "../../shared/usage/token-usage.ts";
import { type OpenedRequest, openingCharge } from "../spool/opened-request.ts";
import type { TakenTokens, UsedTokens } from "../store/types/token-rate.ts";
import { commandsSent } from "../../shared/event-loop/turn-end.ts";
import { FIRST_CHARGE_AFTER_MS, NEXT_CHARGE_AFTER_MS } from "./charge-due.ts";
import type { EstimatedPrompt } from "./tokens/estimate-prompt.ts";
import { checkOf, formatEstimate, formatFinal, toolsOf } from "./format-settled.ts";
import type { Ending, Settled } from "./settled.ts";
import type { TokenEstimator, TokenSubject } from "./tokens/token-estimator.ts";
import { type Asked, isUsageOfOne, withAllPrompts } from "./usage-of-one.ts";
import { countUsedTokens, hasFailedBefore } from "./tokens/used-tokens.ts";

export interface AccountOptions extends EstimatedPrompt {
  readonly identity: BilledRequest;
  readonly model: Pick<Model, "id">;
  /** This price was in force when the request was put on record. */
  readonly price: Price;
  readonly asked: Asked;
  /** The answers can have this many tokens at most: no estimate goes beyond it. */
  readonly largestOutputTokens: number;
  readonly estimator: Pick<
    TokenEstimator,
    "estimateOutput" | "countOutput" | "fewestPromptTokens" | "fewestOutputTokens" | "learn"
  >;
  /** It hears the prompt's tokens, cached ones included, once the upstream has told them. Null: nobody wants to know. */
  readonly onPromptCounted: ((promptTokens: number) => void) | null;
  readonly keeper: AccountKeeper;
  /** The admission took these of the limits of tokens that the request meets; null: it meets none. */
  readonly takenTokens: TakenTokens | null;
  /** Hears the output that limits of tokens count at the end; null: nobody wants to know. */
  readonly onOutputCounted: ((outputTokens: number) => void) | null;
}

/** One of these keeps all accounts of a worker. */
export interface AccountKeeper {
  /**
   * Puts a charge on record; resolves when it is (true), or when everything was done to get it there (false). Never
   * rejects.
   */
  charge(input: ChargeInput): Promise<boolean>;
  /** Whether the request stands on its line of the journal alone, and no charge of it was left unanswered. */
  isBegun(requestId: string): boolean;
  /** What the request came to is known; its charge is not on record yet. */
  onCounted(account: RequestAccount, ending: Ending): void;
  /** Every charge has come to its end. */
  onSettled(account: RequestAccount): void;
}

export class RequestAccount {
  #identity: BilledRequest;
  #shrunk: Shrunk | null = null;
  readonly price: Price;
  readonly estimatedInputTokens: number;
  readonly #options: AccountOptions;
  #answer: Answer | null = null;
  #sequence = 0;
  /** The last progress that was acknowledged said this: the lower bound and the best estimate. */
  #acknowledged = { counted: 0n, estimate: 0n };
  #worstCaseMicrocents: bigint | null = null;
  #progress: Promise<boolean> | null = null;
  #settling: Promise<Settled> | null = null;
  /** It is charged next at this time, by a clock that never goes back. */
  #dueMs = Infinity;

  constructor(options: AccountOptions) {
    this.#identity = options.identity;
    this.price = options.price;
    this.estimatedInputTokens = options.estimatedInputTokens;
    this.#options = options;
  }

  get identity(): BilledRequest {
    return this.#identity;
  }

  /** The limit of its answers was lowered to this; null: it was not. */
  get shrunk(): Shrunk | null {
    return this.#shrunk;
  }

  /** It goes upstream now: from here on it is charged again and again. */
  goUpstream(nowMs: number): void {
    this.#dueMs = nowMs + FIRST_CHARGE_AFTER_MS;
  }

  /** Whether a charge is due; the next one is due later then. */
  takeDue(nowMs: number): boolean {
    if (this.#dueMs > nowMs) return false;
    this.#dueMs = nowMs + NEXT_CHARGE_AFTER_MS;
    return true;
  }

  /** The hold says which row of usage this request counts in, and every charge repeats it. */
  countIn(tagRow: string | undefined): void {
    if (tagRow !== undefined) this.#identity = { ...this.#identity, tagRow };
  }

  /** The client is told this while its answer is read; nothing where the usage is not of all that was generated. */
  readonly describeCost: DescribeCost = ({ usage: tokens, serviceTier, toolUses }) => {
    if (this.#answer !== null && !this.#tellsAll(this.#answer.observation)) return {};
    const charged = chooseRates(this.price, serviceTier, promptTokensOf(tokens));
    const tools = chargeTools(this.price.serverTools, toolUses);
    return reportCost({ tokens, tools, charged, currency: this.#identity.currency });
  };

  /** The prompt's estimate is what is charged when nobody ever tells what was used. */
  get promptFloorMicrocents(): bigint {
    return this.#promptFloor.costMicrocents;
  }

  /** The prompt's estimate was made with this price. */
  get promptFloorPrice(): Check {
    return checkOf(this.#promptFloor, this.#identity.currency);
  }

  get #promptFloor(): Settled {
    return this.#price(plainTokens(this.estimatedInputTokens, 0), true);
  }

  /** With strict caps, no progress and no estimate is charged above the worst case that is held. Null: there is no limit. */
  limitTo(worstCaseMicrocents: bigint | null, shrunk: Shrunk | null = null): void {
    this.#worstCaseMicrocents = worstCaseMicrocents;
    this.#shrunk = shrunk;
  }

  get #largestOutputTokens(): number {
    const { asked, largestOutputTokens } = this.#options;
    return this.#shrunk === null ? largestOutputTokens : asked.choices * this.#shrunk.maxTokens;
  }

  /** The answer's observation tells from now on what has been used so far. */
  observe(answer: Answer): void {
    this.#answer = answer;
  }

  /** This stands for the request where Redis has no record of it. */
  get opened(): OpenedRequest {
    return {
      floorMicrocents: this.promptFloorMicrocents,
      floorInputTokens: this.estimatedInputTokens,
      ...this.#identity,
    };
  }

  /**
   * While an answer streams, it is charged what was certainly used so far, and beside it the best estimate is told, for
   * whoever must close this request in our place. Nothing is charged before the first generated piece, when nothing has
   * changed, while the last charge is still on its way, or when the end is near. It never rejects.
   */
  async chargeProgress(): Promise<void> {
    if (this.#settling !== null || this.#progress !== null) return;
    if (this.#answer === null || this.#answer.observation.generatedDeltas === 0) return;
    const { observation } = this.#answer;
    const counted = this.#limit(this.#countAtLeast(observation));
    const estimate = this.#limit(this.#estimateSoFar(observation));
    const said = { counted: counted.costMicrocents, estimate: estimate.costMicrocents };
    if (said.counted === this.#acknowledged.counted && said.estimate === this.#acknowledged.estimate) return;
    const progress = this.#charge({ ...counted, estimated: estimate.estimated }, estimate, null);
    // One that was not acknowledged is sent again with the next, even when the stream stalls.
    if (await this.#watch(progress)) this.#acknowledged = said;
  }

  /** It makes the record of a request that has none, as long as nothing was generated. It never rejects. */
  async chargeOpening(): Promise<void> {
    if (this.#settling !== null || this.#progress !== null || this.#sequence > 0) return;
    await this.#watch(this.#options.keeper.charge(openingCharge(this.opened, this.promptFloorPrice)));
  }

  /** The end of the account waits for this charge, and the next progress does, too. */
  async #watch(progress: Promise<boolean>): Promise<boolean> {
    this.#progress = progress;
    const isAcknowledged = await progress;
    this.#progress = null;
    return isAcknowledged;
  }

  /**
   * This sends the final charge. The first call decides; every further one gets its result. It resolves when the client may
   * hear of the end, and never rejects.
   */
  settle(outcome: Outcome, result: ClientResult): Promise<Settled> {
    this.#settling ??= this.#settle(outcome, result);
    return this.#settling;
  }

  async #settle(outcome: Outcome, result: ClientResult): Promise<Settled> {
    const counted = this.#countFinally(outcome);
    // What is known already is not waited for: the charge leaves in this turn.
    const settled = counted instanceof Promise ? await counted : counted;
    this.#learn(settled);
    const ending = { settled, outcome, result };
    this.#options.keeper.onCounted(this, ending);
    // The request was brief: no charge was due, and the journal alone has it. Should this process die before Redis has its
    // charge, that line still has its prompt, and what is missing was generated in the last two seconds: no more than of a
    // request in flight.
    const isBrief = this.#progress === null && this.#options.keeper.isBegun(this.#identity.requestId);
    const charged = this.#charge(settled, null, ending, isBrief).then(() => this.#end());
    await (isBrief ? commandsSent() : charged);
    return settled;
  }

  /** Only when every command was answered may the record be deleted; the client does not wait for that. */
  #end(): void {
    const { keeper } = this.#options;
    if (this.#progress === null) keeper.onSettled(this);
    else void this.#progress.then(() => keeper.onSettled(this));
  }

  #countFinally(outcome: Outcome): Settled | Promise<Settled> {
    if (outcome === "not_sent" || outcome === "refused_by_upstream") return this.#nothing();
    const observation = this.#answer?.observation;
    if (observation === undefined) return this.#estimate(null, 0);
    const { usage } = observation;
    if (usage !== null && this.#tellsAll(observation)) return this.#price(usage, false);
    if (outcome === "complete" && observation.isZeroUsage) return this.#nothing();
    const { estimator } = this.#options;
    // The tokens are never fewer than what has counted as spend already.
    const fewest = estimator.fewestOutputTokens(this.#subject, observation);
    return estimator
      .countOutput(this.#subject, observation)
      .then((tokens) =>
        usage !== null && this.#tellsAll(observation, tokens)
          ? this.#price(usage, false)
          : this.#estimate(usage, Math.max(tokens, fewest)),
      );
  }

  #estimateSoFar(observation: Observation): Settled {
    const { usage } = observation;
    if (usage !== null && this.#tellsAll(observation)) return this.#price(usage, false);
    return this.#estimate(usage, this.#options.estimator.estimateOutput(this.#subject, observation));
  }

  /** Whether the upstream's usage is of all that was generated. @param counted By the tokenizer; left out: by bytes. */
  #tellsAll(observation: Observation, counted?: number): boolean {
    const { usage, isUsageIncomplete } = observation;
    const { asked, estimator } = this.#options;
    if (usage === null || isUsageIncomplete) return false;
    if (asked.choices === 1) return true;
    return !isUsageOfOne(usage, counted ?? estimator.estimateOutput(this.#subject, observation));
  }

  /**
   * This is a lower bound of what the request has cost. It takes the upstream's figures where it reports some, else the
   * fewest tokens that what passed can be, and each token at the cheapest price that it can still get, since an upstream may tell
   * only at the end how many came from its cache, how many were reasoning and at which service tier it served.
   */
  #countAtLeast(observation: Observation): Settled {
    const { usage } = observation;
    const { estimator, promptInkBytes } = this.#options;
    const known = usage ?? plainTokens(estimator.fewestPromptTokens(this.#subject, promptInkBytes), 0);
    const isReported = usage !== null && !observation.isUsageIncomplete;
    const fewest = isReported ? 0 : estimator.fewestOutputTokens(this.#subject, observation);
    const outputTokens = Math.max(known.outputTokens, Math.min(this.#largestOutputTokens, fewest));
    const tokens: TokenUsage = { ...known, outputTokens };
    const inputTokens = promptTokensOf(tokens);
    const cost = leastCost(this.price, { inputTokens, outputTokens });
    return { ...this.#price(tokens, true), tools: NO_TOOLS, costMicrocents: cost };
  }

  get #subject(): TokenSubject {
    return { model: this.#options.model.id, organizationId: this.#identity.organizationId };
  }

  /** With strict caps, nothing comes to more than what is held. */
  #limit(settled: Settled): Settled {
    const limit = this.#worstCaseMicrocents;
    return limit === null || settled.costMicrocents <= limit
      ? settled
      : { ...settled, costMicrocents: limit, isBoundedByHold: true };
  }

  /** It is what the upstream counted, where it did, and beyond that what is estimated, at the plain price of its side. */
  #estimate(usage: TokenUsage | null, estimatedOutput: number): Settled {
    const { estimatedInputTokens } = this;
    const known =
      usage === null
        ? plainTokens(estimatedInputTokens, 0)
        : withAllPrompts(usage, estimatedInputTokens, this.#options.asked);
    const capped = Math.min(estimatedOutput, this.#largestOutputTokens);
    return this.#limit(this.#price({ ...known, outputTokens: Math.max(known.outputTokens, capped) }, true));
  }

  /** It is priced at the service tier that the upstream has named and the whole prompt's size, with the tools that it ran. */
  #price(tokens: TokenUsage, estimated: boolean): Settled {
    const { serviceTier: named = null, toolUses = NO_USES } = this.#answer?.observation ?? {};
    const charged = chooseRates(this.price, named, promptTokensOf(tokens));
    const unpricedServiceTier = named === null || isPricedTier(this.price, named) ? null : named;
    const tools = chargeTools(this.price.serverTools, toolUses);
    const cost = costMicrocents(tokens, charged.rates, tools);
    return { tokens, tools, costMicrocents: cost, estimated, charged, unpricedServiceTier };
  }

  #countUsedTokens(settled: Settled, ending: Ending | null): UsedTokens | undefined {
    const { takenTokens, onOutputCounted } = this.#options;
    if (takenTokens === null) return undefined;
    const generated = this.#answer?.observation.generatedDeltas ?? 0;
    const hasFailed = hasFailedBefore(generated, settled, ending);
    if (ending !== null && !hasFailed) onOutputCounted?.(settled.tokens.outputTokens);
    return countUsedTokens(takenTokens, hasFailed ? NO_TOKENS : settled.tokens);
  }

  /** Nothing is charged, not even the fee of a request. */
  #nothing(): Settled {
    const nothing = { tools: NO_TOOLS, costMicrocents: 0n, unpricedServiceTier: null };
    return { ...this.#price(NO_TOKENS, false), ...nothing };
  }

  #learn({ tokens, estimated }: Settled): void {
    const observation = this.#answer?.observation;
    if (estimated || observation === undefined || tokens === NO_TOKENS) return;
    const { estimator, promptBytes, onPromptCounted } = this.#options;
    onPromptCounted?.(promptTokensOf(tokens));
    estimator.learn(this.#subject, {
      promptBytes,
      promptTokens: promptTokensOf(tokens),
      generatedBytes: observation.generatedBytes,
      generatedDeltas: observation.generatedDeltas,
      outputTokens: tokens.outputTokens,
    });
  }

  /** @param ending It is null while the request goes on: `estimate` is then what it may have come to. */
  #charge(
    settled: Settled,
    estimate: Settled | null,
    ending: Ending | null,
    isBrief = false,
  ): Promise<boolean> {
    this.#sequence += 1;
    const { currency } = this.#identity;
    const input: ChargeInput = {
      totalMicrocents: settled.costMicrocents,
      toolMicrocents: toolsOf(settled),
      sequence: this.#sequence,
      tokens: settled.tokens,
      requests: ending?.outcome === "not_sent" ? 0 : 1,
      estimated: settled.estimated,
      estimate: estimate === null ? null : formatEstimate(estimate, currency),
      final: ending === null ? null : formatFinal(ending, currency, this.#shrunk),
      isBrief: isBrief ? true : undefined,
      usedTokens: this.#countUsedTokens(estimate ?? settled, ending),
      ...this.#identity,
    };
    return this.#options.keeper.charge(input);
  }
}
