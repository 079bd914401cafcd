/** Formats the settled amounts of a request as fields of its charge. */
import { boundByHold, describePrice } from "../pricing/charged-price.ts";
import { toolMicrocents } from "../pricing/tool-charges.ts";
import type { Shrunk } from "../limits/errors/spend-cap.ts";
import { checkShrunk } from "./refusal-checks.ts";
import type { Check } from "../../shared/stored/reporting.ts";
import type { FinalFigures, RequestEstimate } from "../../shared/stored/settlement.ts";
import type { Ending, Settled } from "./settled.ts";

export function formatEstimate(estimate: Settled, currency: string): RequestEstimate {
  return {
    totalMicrocents: estimate.costMicrocents,
    toolMicrocents: toolsOf(estimate),
    tokens: estimate.tokens,
    price: checkOf(estimate, currency),
  };
}

export function formatFinal(
  { settled, result }: Ending,
  currency: string,
  shrunk: Shrunk | null,
): FinalFigures {
  const { status, errorCode, trace } = result;
  const lowered = shrunk === null ? [] : [checkShrunk(shrunk)];
  return { status, errorCode, trace, checks: [...lowered, checkOf(settled, currency)] };
}

/** Returns the cost of tools; undefined without tools, as for most requests. */
export function toolsOf({ tools, costMicrocents: cost }: Settled): bigint | undefined {
  return tools.length === 0 ? undefined : toolMicrocents(tools, cost);
}

export function checkOf(settled: Settled, currency: string): Check {
  const { charged, tools, isBoundedByHold } = settled;
  const price = describePrice({ charged, currency, tools });
  return isBoundedByHold === true ? boundByHold(price) : price;
}
