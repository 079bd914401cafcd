/** Cost of server tools: exact, per thousand uses, and rounded once with the rest of the request. */
import type { ToolUses } from "../../shared/usage/server-tools.ts";

/** Microcents per thousand uses by tool name; null: no price, so uses are free here. */
export type ToolPrices = ReadonlyMap<string, bigint | null>;

/** Uses of a tool with a price. */
export interface ChargedTool {
  readonly name: string;
  readonly uses: number;
  /** Microcents per thousand uses. */
  readonly rate: bigint;
}

export const NO_TOOLS: readonly ChargedTool[] = Object.freeze([]);

/** Amounts are in millionths of a microcent, like those of tokens. */
const PER_USE = 1_000n;
const MILLION = 1_000_000n;

/** Returns the same empty list for all requests without charged tools. */
export function chargeTools(prices: ToolPrices, uses: ToolUses): readonly ChargedTool[] {
  if (uses.size === 0 || prices.size === 0) return NO_TOOLS;
  const charged: ChargedTool[] = [];
  for (const [name, count] of uses) {
    const rate = prices.get(name) ?? null;
    if (rate !== null && count > 0) charged.push({ name, uses: count, rate });
  }
  return charged.length === 0 ? NO_TOOLS : charged;
}

/** Returns the cost of tools in whole microcents: rounded up like the total cost, and never above it. */
export function toolMicrocents(tools: readonly ChargedTool[], costMicrocents: bigint): bigint {
  if (tools.length === 0) return 0n;
  const amount = tools.reduce((sum, tool) => sum + toolAmount(tool), 0n);
  const rounded = (amount + MILLION - 1n) / MILLION;
  return rounded < costMicrocents ? rounded : costMicrocents;
}

/** Returns the exact amount in millionths of a microcent. */
export function toolAmount({ uses, rate }: Pick<ChargedTool, "uses" | "rate">): bigint {
  return BigInt(uses) * rate * PER_USE;
}
