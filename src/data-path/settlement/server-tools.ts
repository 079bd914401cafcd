/** Tools that run at the model server: which are allowed, and their maximum cost. */
import type { Model } from "../catalog/catalog.ts";
import { GatewayError } from "../../shared/contract/errors.ts";
import type { Price } from "../pricing/price.ts";
import { roundUp } from "../pricing/rates.ts";
import { toolAmount } from "../pricing/tool-charges.ts";
import type { RequestedTool } from "../translation/client-protocol.ts";

/** Tools whose providers only bill tokens. */
const FREE_TOOLS: ReadonlySet<string> = new Set(["tool_search"]);

/**
 * Rejects tools without a price.
 * @throws GatewayError 400 naming the first such tool, and the setting.
 */
export function refuseUnpricedTools(
  { serverTools: prices }: Pick<Price, "serverTools">,
  { id }: Pick<Model, "id">,
  requested: readonly RequestedTool[],
): void {
  for (const { name, param } of requested) {
    if (prices.has(name) || FREE_TOOLS.has(name)) continue;
    const message =
      `${param}: the tool \`${name}\` runs at the model server and has no price for the model \`${id}\`. Remove it, or ask ` +
      `the operator to set \`server_tools\` in the model's prices: \`${name}: "10.00"\` per thousand uses, or ` +
      `\`${name}: {unpriced: true}\`.`;
    throw new GatewayError("unsupported_parameter", { message, param });
  }
}

/** Maximum number of uses of a request's tools, all together, and their cost in whole microcents. */
export interface LargestToolUse {
  readonly uses: number;
  readonly microcents: bigint;
}

/** @throws GatewayError 400 `unsupported_parameter` for a tool without a maximum number of uses. */
export function boundToolUse(
  { serverTools: prices }: Pick<Price, "serverTools">,
  requested: readonly RequestedTool[],
): LargestToolUse {
  const shared = { uses: 0, rate: 0n };
  let uses = 0;
  let amount = 0n;
  for (const { name, bound } of requested) {
    if (bound.kind === "none") throw refuseUnbounded(bound);
    const rate = prices.get(name) ?? 0n;
    if (bound.kind === "shared") {
      shared.uses = bound.uses;
      if (rate > shared.rate) shared.rate = rate;
    } else {
      uses += bound.uses;
      amount += toolAmount({ uses: bound.uses, rate });
    }
  }
  return { uses: uses + shared.uses, microcents: roundUp(amount + toolAmount(shared)) };
}

/** Rejects requests whose cost has no bound. */
export function refuseUnbounded({
  param,
  reason,
}: {
  readonly param: string;
  readonly reason: string;
}): GatewayError {
  const message = `${param}: ${reason}, so its cost has no upper bound, which the organization's strict caps don't allow`;
  return new GatewayError("unsupported_parameter", { message, param });
}
