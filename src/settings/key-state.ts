/** What a key is in. Management API, command line and dashboard say it by this file alone. */
import { MICROCENTS_PER_CENT } from "../money.ts";
import type { KeySettings } from "./key.ts";

export const KEY_STATES = ["active", "over_budget", "cap_reached", "expired", "disabled"] as const;
export type KeyState = (typeof KEY_STATES)[number];

export interface KeyStateText {
  /** For people. */
  readonly words: string;
  /** How it is to be looked at: `off` was meant so by somebody. */
  readonly level: "good" | "warning" | "bad" | "off";
}

const TEXTS: Readonly<Record<KeyState, KeyStateText>> = {
  active: { words: "active", level: "good" },
  over_budget: { words: "over budget", level: "warning" },
  cap_reached: { words: "cap reached", level: "bad" },
  expired: { words: "expired", level: "off" },
  disabled: { words: "disabled", level: "off" },
};

/** The first reason for which its requests are refused; past the budget they are not. */
export function keyStateOf(
  settings: Pick<KeySettings, "disabled" | "expiresAtMs" | "hardCapCents" | "budgetCents">,
  spentMicrocents: bigint,
  nowMs: number,
): KeyState {
  const isReached = (cents: number | null): boolean =>
    cents !== null && spentMicrocents >= BigInt(cents) * BigInt(MICROCENTS_PER_CENT);
  if (settings.disabled) return "disabled";
  if (settings.expiresAtMs !== null && settings.expiresAtMs <= nowMs) return "expired";
  if (isReached(settings.hardCapCents)) return "cap_reached";
  return isReached(settings.budgetCents) ? "over_budget" : "active";
}

/** @param state Of an answer of the API: a newer gateway's may be one that this program does not know. */
export function describeKeyState(state: string): KeyStateText {
  const known = KEY_STATES.find((one) => one === state);
  return known === undefined ? { words: state.replaceAll("_", " "), level: "warning" } : TEXTS[known];
}
