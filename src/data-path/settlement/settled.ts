import type { ChosenRates } from "../pricing/price.ts";
import type { ChargedTool } from "../pricing/tool-charges.ts";
import type { ClientResult, Outcome } from "../request-log/line.ts";
import type { TokenUsage } from "../../shared/usage/token-usage.ts";

/** Cost of a request and the figures behind it. */
export interface Settled {
  readonly tokens: TokenUsage;
  /** Uses of server tools with a price. */
  readonly tools: readonly ChargedTool[];
  readonly costMicrocents: bigint;
  /** True if the tokens are an estimate: the upstream reported no usable usage. */
  readonly estimated: boolean;
  /** Rates of the charge. */
  readonly charged: ChosenRates;
  /** Service tier that the upstream used and that has no price; null if it has one. */
  readonly unpricedServiceTier: string | null;
  /** Set if the estimate exceeded the amount reserved by strict caps, which is then the cost. */
  readonly isBoundedByHold?: true;
}

/** Cost and outcome of a request at its end. */
export interface Ending {
  readonly settled: Settled;
  readonly outcome: Outcome;
  readonly result: ClientResult;
}
