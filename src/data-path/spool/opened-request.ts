import type { ChargeInput, RequestEstimate, RequestIdentity } from "../store/types/settlement.ts";
import { NO_TOKENS, plainTokens } from "../../shared/usage/token-usage.ts";

/** A request that went upstream without a record in Redis: what it costs at least when nobody ever says more. */
export interface OpenedRequest extends RequestIdentity {
  readonly floorMicrocents: bigint;
  readonly floorInputTokens: number;
}

/**
 * The charge that makes such a request's record. It counts nothing yet, with a sequence number below every other: the
 * record is closed at its floor when nothing else of the request ever arrives; where there is one, nothing changes.
 * @param price Of the floor; left out where it is not known.
 */
export function openingCharge(opened: OpenedRequest, price?: RequestEstimate["price"]): ChargeInput {
  const { floorMicrocents, floorInputTokens, ...identity } = opened;
  const floor = {
    totalMicrocents: floorMicrocents,
    tokens: plainTokens(floorInputTokens, 0),
  };
  return {
    ...identity,
    totalMicrocents: 0n,
    sequence: 0,
    tokens: NO_TOKENS,
    requests: 1,
    estimated: true,
    estimate: price === undefined ? floor : { ...floor, price },
    final: null,
  };
}
