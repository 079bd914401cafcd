/** What strict caps hold for one request, and how much of its answer would fit where that does not. */
import { hasOutputLimit } from "../../../shared/contract/endpoints.ts";
import type { Affordable } from "../../limits/spend-cap.ts";
import type { Price } from "../../pricing/price.ts";
import { describeLargestPrompt, type SentPrompt } from "./estimate-prompt.ts";
import type { TokenEstimator } from "./token-estimator.ts";
import { limitOfEach, worstCaseMicrocents, type WorstCaseInput } from "./worst-case.ts";

/** No answer is made shorter than this, beside what is set aside for thinking. */
const LEAST_ANSWER_TOKENS = 256;

export class StrictWorstCase {
  readonly #prompt: SentPrompt;
  readonly #price: Price;
  readonly #estimator: Pick<TokenEstimator, "overheadTokens">;
  /** What the limit of each answer was lowered to; null: it was not. */
  #affordable: number | null = null;

  constructor(prompt: SentPrompt, price: Price, estimator: Pick<TokenEstimator, "overheadTokens">) {
    this.#prompt = prompt;
    this.#price = price;
    this.#estimator = estimator;
  }

  /** Microcents. @throws GatewayError 400 where strict caps do not let the request pass. */
  microcents(): bigint {
    this.#prompt.upstream.becomeStrict();
    return worstCaseMicrocents(this.#describe());
  }

  /**
   * How many tokens each answer may have that a request with this room is held for, where its own limit does not fit.
   * Null: the client has no field for such a limit.
   * @param roomMicrocents What the cap that leaves least of it has left, 0 when it is reached.
   */
  afford(roomMicrocents: bigint): Affordable | null {
    const { admission, request, model, upstream } = this.#prompt;
    if (!hasOutputLimit(admission.endpoint)) return null;
    const requestedTokens = limitOfEach(request, model);
    if (roomMicrocents <= 0n) return { requestedTokens, affordableTokens: 0 };
    const described = this.#describe();
    const costOf = (affordable: number): bigint => {
      const upstreamBytes = upstream.lengthAt(affordable) ?? described.upstreamBytes;
      return worstCaseMicrocents({ ...described, upstreamBytes, affordable });
    };
    return { requestedTokens, affordableTokens: findLargest(requestedTokens, costOf, roomMicrocents) };
  }

  /**
   * Lowers the limit of each answer to what is affordable, for an organization or a key that wants that. False: it stays, as
   * so little is no answer.
   */
  shrinkTo({ affordableTokens }: Affordable): boolean {
    const { admission, upstream } = this.#prompt;
    const isTooLittle = affordableTokens < LEAST_ANSWER_TOKENS + upstream.thinkingBudget;
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
 * The largest limit below one that does not fit whose cost fits; 0: there is none. The cost must not fall as the limit
 * grows: of two limits the larger one is neither shorter to write nor cheaper.
 */
function findLargest(tooMany: number, costOf: (tokens: number) => bigint, roomMicrocents: bigint): number {
  let fits = 0;
  let above = tooMany;
  while (above - fits > 1) {
    const middle = fits + Math.floor((above - fits) / 2);
    if (costOf(middle) <= roomMicrocents) fits = middle;
    else above = middle;
  }
  return fits;
}
