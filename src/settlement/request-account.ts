/**
 * The account of one request, from its hold to its final charge. A charge never adds: it sets the request's total, with
 * a sequence number, so that a repeated, late or reordered one counts once.
 */
import type { Model } from "../catalog/catalog.ts";
import { type Price, costMicrocents } from "../money.ts";
import type { ChargeInput, RequestIdentity } from "../store/types/settlement.ts";
import type { Answer, TokenUsage } from "../translation/exchange.ts";
import type { TokenEstimator } from "./token-estimator.ts";

/**
 * How a request ended: `complete`: the answer was whole; `broken`: it was handed on, but client or upstream broke it
 * off; `refused_by_upstream`: an error status, nothing generated; `not_sent`: no upstream was reached.
 */
export type Outcome = "complete" | "broken" | "refused_by_upstream" | "not_sent";

/** What the client was told, for the list of recent requests. */
export interface ClientResult {
  readonly status: number;
  readonly errorCode: string | null;
}

/** What a request came to. */
export interface Settled {
  readonly tokens: TokenUsage;
  readonly costMicrocents: bigint;
  /** The tokens are an estimate: the upstream told no usable usage. */
  readonly estimated: boolean;
}

export interface AccountOptions {
  readonly identity: RequestIdentity;
  readonly model: Model;
  /** In force when the hold was placed. */
  readonly price: Price;
  readonly bodyBytes: number;
  readonly estimatedInputTokens: number;
  /** Strict caps: progress is never charged above it. */
  readonly worstCaseMicrocents: bigint | null;
  readonly estimator: TokenEstimator;
  /** Puts a charge on record; resolves when it is, or when everything was done to get it there. */
  readonly charge: (input: ChargeInput, account: RequestAccount) => Promise<void>;
  readonly onSettled: (account: RequestAccount) => void;
}

const NO_TOKENS: TokenUsage = { inputTokens: 0, cachedInputTokens: 0, outputTokens: 0, reasoningTokens: 0 };

export class RequestAccount {
  readonly identity: RequestIdentity;
  readonly estimatedInputTokens: number;
  readonly #options: AccountOptions;
  #answer: Answer | null = null;
  #sequence = 0;
  #chargedMicrocents = 0n;
  #settling: Promise<Settled> | null = null;
  /** A command of this request was never answered, so its record must not be deleted. */
  hasUnansweredCommand = false;

  constructor(options: AccountOptions) {
    this.identity = options.identity;
    this.estimatedInputTokens = options.estimatedInputTokens;
    this.#options = options;
  }

  /** What is charged when nobody ever tells what was used: the prompt's estimate. */
  get promptFloorMicrocents(): bigint {
    const { estimatedInputTokens, price } = this.#options;
    return costMicrocents({ ...NO_TOKENS, inputTokens: estimatedInputTokens }, price);
  }

  /** The answer whose observation tells what has been used so far. */
  observe(answer: Answer): void {
    this.#answer = answer;
  }

  /** While an answer streams: a charge of what was used so far. Nothing when nothing changed or the end is near. */
  async chargeProgress(): Promise<void> {
    if (this.#settling !== null || this.#answer === null) return;
    const { worstCaseMicrocents } = this.#options;
    const used = this.#count("broken");
    const capped = worstCaseMicrocents !== null && used.costMicrocents > worstCaseMicrocents;
    const total = capped ? worstCaseMicrocents : used.costMicrocents;
    if (total === this.#chargedMicrocents) return;
    this.#chargedMicrocents = total;
    await this.#charge({ ...used, costMicrocents: total }, null, "broken");
  }

  /** The final charge. The first call decides; every further one waits for it and gets its result. Never rejects. */
  settle(outcome: Outcome, result: ClientResult): Promise<Settled> {
    this.#settling ??= this.#settle(outcome, result);
    return this.#settling;
  }

  async #settle(outcome: Outcome, result: ClientResult): Promise<Settled> {
    const settled = this.#count(outcome);
    this.#learn(settled);
    await this.#charge(settled, result, outcome);
    this.#options.onSettled(this);
    return settled;
  }

  #count(outcome: Outcome): Settled {
    const { price } = this.#options;
    if (outcome === "not_sent" || outcome === "refused_by_upstream") {
      return { tokens: NO_TOKENS, costMicrocents: 0n, estimated: false };
    }
    const usage = this.#answer?.observation.usage ?? null;
    const tokens = usage ?? this.#estimate();
    return { tokens, costMicrocents: costMicrocents(tokens, price), estimated: usage === null };
  }

  #estimate(): TokenUsage {
    const { estimator, model, estimatedInputTokens } = this.#options;
    const generated = this.#answer?.observation;
    const outputTokens = generated === undefined ? 0 : estimator.estimateOutput(model.id, generated);
    return { ...NO_TOKENS, inputTokens: estimatedInputTokens, outputTokens };
  }

  #learn({ tokens, estimated }: Settled): void {
    const observation = this.#answer?.observation;
    if (estimated || observation === undefined) return;
    const { estimator, model, bodyBytes } = this.#options;
    estimator.learn(model.id, {
      bodyBytes,
      promptTokens: tokens.inputTokens + tokens.cachedInputTokens,
      generatedBytes: observation.generatedBytes,
      outputTokens: tokens.outputTokens,
    });
  }

  async #charge(settled: Settled, result: ClientResult | null, outcome: Outcome): Promise<void> {
    const { tokens } = settled;
    this.#sequence += 1;
    const input: ChargeInput = {
      ...this.identity,
      totalMicrocents: settled.costMicrocents,
      sequence: this.#sequence,
      tokens: {
        input: tokens.inputTokens,
        cachedInput: tokens.cachedInputTokens,
        output: tokens.outputTokens,
        reasoning: tokens.reasoningTokens,
      },
      requests: outcome === "not_sent" ? 0 : 1,
      estimated: settled.estimated,
      final: result === null ? null : { ...result, checks: [this.#priceCheck()] },
    };
    await this.#options.charge(input, this);
  }

  /** The prices that were in force, so that a cost can be explained later. */
  #priceCheck() {
    const { input, cachedInput, output } = this.#options.price;
    return {
      name: "price",
      passed: true,
      figures: {
        input_microcents_per_million: String(input),
        cached_input_microcents_per_million: String(cachedInput),
        output_microcents_per_million: String(output),
      },
    };
  }
}
