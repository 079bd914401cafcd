import { MICROCENTS_PER_CENT } from "../money.ts";
import type { KeyRecord } from "../store/types/management.ts";

/** What a key is in, as every page and command says it. */
export const KEY_STATES = ["active", "over_budget", "cap_reached", "expired", "disabled"] as const;
export type KeyState = (typeof KEY_STATES)[number];

/** The first reason for which its requests are refused; past the budget they are not. */
export function keyStateOf(
  record: Pick<KeyRecord, "disabled" | "expiresAtMs" | "hardCapCents" | "budgetCents">,
  spentMicrocents: bigint,
  nowMs: number,
): KeyState {
  const isReached = (cents: number | null): boolean =>
    cents !== null && spentMicrocents >= BigInt(cents) * BigInt(MICROCENTS_PER_CENT);
  if (record.disabled) return "disabled";
  if (record.expiresAtMs !== null && record.expiresAtMs <= nowMs) return "expired";
  if (isReached(record.hardCapCents)) return "cap_reached";
  return isReached(record.budgetCents) ? "over_budget" : "active";
}
