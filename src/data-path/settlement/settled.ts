import type { ChosenRates } from "../pricing/price.ts";
import type { ChargedTool } from "../pricing/tool-charges.ts";
import type { ClientResult, Outcome } from "../request-log/line.ts";
import type { TokenUsage } from "../../shared/usage/token-usage.ts";

/** What a request came to. */
export interface Settled {
  readonly tokens: TokenUsage;
  /** Uses of server tools that have a price. */
  readonly tools: readonly ChargedTool[];
  readonly costMicrocents: bigint;
  /** The tokens are an estimate: the upstream reported no usable usage. */
  readonly estimated: boolean;
  /** The rates that it was charged at. */
  readonly charged: ChosenRates;
  /** What the upstream served it as and nobody has set a price for; null where there is one. */
  readonly unpricedServiceTier: string | null;
  /** An estimate that came to more than strict caps hold for the request, which is what it costs. Left out: it did not. */
  readonly isBoundedByHold?: true;
}

/** The end of a request: what it came to, and how. */
export interface Ending {
  readonly settled: Settled;
  readonly outcome: Outcome;
  readonly result: ClientResult;
}
