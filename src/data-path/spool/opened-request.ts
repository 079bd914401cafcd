import type { ChargeInput, RequestEstimate, RequestIdentity } from "../../shared/stored/settlement.ts";
import { NO_TOKENS, plainTokens } from "../../shared/usage/token-usage.ts";

/** A request that went upstream without a record in Redis, with its minimum charge if no more is ever reported. */
export interface OpenedRequest extends RequestIdentity {
  readonly floorMicrocents: bigint;
  readonly floorInputTokens: number;
}

/**
 * Creates the charge that creates such a request's record. It counts nothing, with a sequence number below all others:
 * the record is closed at its minimum charge if nothing else about the request arrives, and an existing record does
 * not change.
 * @param price Price of the minimum charge, if known.
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
