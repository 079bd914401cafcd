/** Worst case of a request, which strict caps reserve, and the output limit that would fit otherwise. */
import { hasOutputLimit } from "../../../shared/contract/endpoints.ts";
import type { Affordable } from "../../limits/spend-cap.ts";
import type { Price } from "../../pricing/price.ts";
import { describeLargestPrompt, type SentPrompt } from "./estimate-prompt.ts";
import type { TokenEstimator } from "./token-estimator.ts";
import { limitOfEach, worstCaseMicrocents, type WorstCaseInput } from "./worst-case.ts";

/** Minimum output limit after lowering, in addition to the thinking budget. */
const MIN_ANSWER_TOKENS = 256;

export class StrictWorstCase {
  readonly #prompt: SentPrompt;
  readonly #price: Price;
  readonly #estimator: Pick<TokenEstimator, "overheadTokens">;
  /** Lowered limit of each answer; null: unchanged. */
  #affordable: number | null = null;

  constructor(prompt: SentPrompt, price: Price, estimator: Pick<TokenEstimator, "overheadTokens">) {
    this.#prompt = prompt;
    this.#price = price;
    this.#estimator = estimator;
  }

  /** Returns the worst case in microcents. @throws GatewayError 400 if strict caps do not allow the request. */
  microcents(): bigint {
    this.#prompt.upstream.becomeStrict();
    return worstCaseMicrocents(this.#describe());
  }

  /**
   * Returns how many tokens each answer may have within this remaining amount, if the requested limit does
   * not fit. Null: the client's protocol has no output limit.
   * @param remainingMicrocents Rest of the tightest cap, 0 if it is reached.
   */
  afford(remainingMicrocents: bigint): Affordable | null {
    const { admission, request, model, upstream } = this.#prompt;
    if (!hasOutputLimit(admission.endpoint)) return null;
    const requestedTokens = limitOfEach(request, model);
    if (remainingMicrocents <= 0n) return { requestedTokens, affordableTokens: 0 };
    const described = this.#describe();
    const costOf = (affordable: number): bigint => {
      const upstreamBytes = upstream.lengthAt(affordable) ?? described.upstreamBytes;
      return worstCaseMicrocents({ ...described, upstreamBytes, affordable });
    };
    return { requestedTokens, affordableTokens: findLargest(requestedTokens, costOf, remainingMicrocents) };
  }

  /**
   * Lowers the limit of each answer to what is affordable, if the organization or key allows that. False:
   * unchanged, because so few tokens would be useless.
   */
  shrinkTo({ affordableTokens }: Affordable): boolean {
    const { admission, upstream } = this.#prompt;
    const isTooLittle = affordableTokens < MIN_ANSWER_TOKENS + upstream.thinkingBudget;
    if (!admission.shrinksOnCap || isTooLittle) return false;
    upstream.lowerOutput(affordableTokens);
    this.#affordable = affordableTokens;
    return true;
  }

  #describe(): WorstCaseInput {
    return {
      price: this.#price,
      affordable: this.#affordable,
      ...describeLargestPrompt(this.#prompt, this.#estimator),
    };
  }
}

/**
 * Finds the largest limit below `tooMany` whose cost fits; 0: none fits. The cost must not decrease as the
 * limit grows.
 */
function findLargest(
  tooMany: number,
  costOf: (tokens: number) => bigint,
  remainingMicrocents: bigint,
): number {
  let fits = 0;
  let above = tooMany;
  while (above - fits > 1) {
    const middle = fits + Math.floor((above - fits) / 2);
    if (costOf(middle) <= remainingMicrocents) fits = middle;
    else above = middle;
  }
  return fits;
}
