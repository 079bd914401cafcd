/** State of a key or an organization, for the management API, command line and dashboard. */
import { isReached } from "../money/money.ts";
import type { LimitSubject } from "../contract/pages.ts";
import type { KeySettings } from "./key.ts";
import type { Limit } from "./limits.ts";
import type { OrganizationSettings } from "./organization.ts";

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

/** Limit in force, with the spend of its window. */
export interface LimitSpend extends Pick<Limit, "kind" | "cents"> {
  readonly scope: LimitSubject["scope"];
  readonly spentMicrocents: bigint;
}

/**
 * Returns the first reason why the key's requests are rejected; exceeding a budget does not reject.
 * @param limits The key's own, and those of its user, group and organization, of which only caps count.
 */
export function keyStateOf(
  { disabled, expiresAtMs }: Pick<KeySettings, "disabled" | "expiresAtMs">,
  { limits, nowMs }: { readonly limits: readonly LimitSpend[]; readonly nowMs: number },
): KeyState {
  if (disabled) return "disabled";
  if (expiresAtMs !== null && expiresAtMs <= nowMs) return "expired";
  return spendStateOf(limits.filter(({ scope, kind }) => scope === "key" || kind === "cap"));
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
  {
    suspended,
    deletedAtMs,
  }: Pick<OrganizationSettings, "suspended"> & { readonly deletedAtMs: number | null },
  limits: readonly LimitSpend[],
): OrganizationState {
  if (deletedAtMs !== null) return "deleted";
  return suspended ? "suspended" : spendStateOf(limits);
}

function spendStateOf(limits: readonly LimitSpend[]) {
  const reached = limits.filter(({ cents, spentMicrocents }) => isReached(cents, spentMicrocents));
  if (reached.some(({ kind }) => kind === "cap")) return "cap_reached";
  return reached.length > 0 ? "over_budget" : "active";
}

/** @param state From an API response; a newer gateway may send unknown states. */
export function describeState(state: string): StateText {
  return isKnown(state) ? TEXTS[state] : { words: state.replaceAll("_", " "), level: "warning" };
}

function isKnown(state: string): state is keyof typeof TEXTS {
  return Object.hasOwn(TEXTS, state);
}
