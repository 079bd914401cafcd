/** State of a key or an organization, for the management API, command line and dashboard. */
import { isReached } from "../money/money.ts";
import type { KeySettings } from "./key.ts";
import type { Limit } from "./limits.ts";
import { monthBudgetOf, monthCapOf, type MonthLimits } from "./month-limits.ts";
import type { OrganizationSettings } from "./organization.ts";
import { raisedCap } from "./raises.ts";

export const KEY_STATES = ["active", "over_budget", "cap_reached", "expired", "disabled"] as const;
export type KeyState = (typeof KEY_STATES)[number];

export const ORGANIZATION_STATES = ["active", "over_budget", "cap_reached", "suspended", "deleted"] as const;
export type OrganizationState = (typeof ORGANIZATION_STATES)[number];

export interface StateText {
  /** Text for people. */
  readonly words: string;
  /** Severity: `off` was intended by a person. */
  readonly level: "good" | "warning" | "bad" | "off";
}

const TEXTS: Readonly<Record<KeyState | OrganizationState, StateText>> = {
  active: { words: "active", level: "good" },
  over_budget: { words: "over budget", level: "warning" },
  cap_reached: { words: "cap reached", level: "bad" },
  expired: { words: "expired", level: "off" },
  disabled: { words: "disabled", level: "off" },
  suspended: { words: "suspended", level: "off" },
  deleted: { words: "deleted", level: "off" },
};

type Limits = MonthLimits & Pick<KeySettings, "raises">;

/** Spend compared with a key's or organization's own limits. */
export interface LimitSpend {
  /** Spend in the month. */
  readonly spentMicrocents: bigint;
  readonly nowMs: number;
  /** Limits in force of other windows than the month. */
  readonly otherLimits: readonly {
    readonly kind: Limit["kind"];
    readonly cents: number;
    readonly spentMicrocents: bigint;
  }[];
}

/** Returns the first reason why the key's requests are rejected; exceeding a budget does not reject. */
export function keyStateOf(
  settings: Limits & Pick<KeySettings, "disabled" | "expiresAtMs">,
  spend: LimitSpend,
): KeyState {
  if (settings.disabled) return "disabled";
  if (settings.expiresAtMs !== null && settings.expiresAtMs <= spend.nowMs) return "expired";
  return spendStateOf(settings, spend);
}

interface Deletable {
  readonly deletedAtMs: number | null;
}

/** Returns whether requests of the key are admitted, limits aside. */
export function isUsable(
  key: Pick<KeySettings, "disabled" | "expiresAtMs"> & Deletable,
  organization: Pick<OrganizationSettings, "suspended"> & Deletable,
  nowMs: number,
): boolean {
  const isOver = key.expiresAtMs !== null && key.expiresAtMs <= nowMs;
  const isDeleted = key.deletedAtMs !== null || organization.deletedAtMs !== null;
  return !isDeleted && !isOver && !key.disabled && !organization.suspended;
}

/** Returns the first reason why the requests of all keys are rejected; exceeding a budget does not reject. */
export function organizationStateOf(
  settings: Limits & Pick<OrganizationSettings, "suspended"> & { readonly deletedAtMs: number | null },
  spend: LimitSpend,
): OrganizationState {
  if (settings.deletedAtMs !== null) return "deleted";
  return settings.suspended ? "suspended" : spendStateOf(settings, spend);
}

function spendStateOf(settings: Limits, { spentMicrocents, nowMs, otherLimits }: LimitSpend) {
  const isSetAndReached = (cents: number | null, spent: bigint): boolean =>
    cents !== null && isReached(cents, spent);
  const isAnyReached = (kind: Limit["kind"]): boolean =>
    otherLimits.some((limit) => limit.kind === kind && isSetAndReached(limit.cents, limit.spentMicrocents));
  const capCents = raisedCap(monthCapOf(settings), settings.raises, { period: "month", nowMs });
  if (isSetAndReached(capCents, spentMicrocents) || isAnyReached("cap")) return "cap_reached";
  return isSetAndReached(monthBudgetOf(settings), spentMicrocents) || isAnyReached("budget")
    ? "over_budget"
    : "active";
}

/** @param state From an API response; a newer gateway may send unknown states. */
export function describeState(state: string): StateText {
  return isKnown(state) ? TEXTS[state] : { words: state.replaceAll("_", " "), level: "warning" };
}

function isKnown(state: string): state is keyof typeof TEXTS {
  return Object.hasOwn(TEXTS, state);
}
