/**
 * The 402 of a reached hard cap: which cap, its amount, what is spent, in which month, and what to do. The decision is
 * made in Redis, in one step with everything else of an admission or a hold; this only puts it into words.
 */
import { GatewayError } from "../errors.ts";
import { formatCents, MICROCENTS_PER_CENT, wholeCents } from "../money.ts";
import { formatMonthName, formatResetsAt } from "../calendar.ts";
import { type DashboardAddress, formatLimitPath } from "../pages.ts";

export interface ReachedCap {
  readonly scope: "key" | "organization";
  readonly organizationId: string;
  readonly keyId: string;
  /** Name of the API key or the organization. */
  readonly name: string;
  readonly hardCapCents: number;
  readonly spentMicrocents: bigint;
  readonly currency: string;
  /** "2026-11". */
  readonly month: string;
  /** Strict caps only: what requests in flight may still cost, and what this one may. */
  readonly held?: { readonly heldMicrocents: bigint; readonly worstCaseMicrocents: bigint };
}

/**
 * The published 402 body's error: `scope`, `spent_cents`, `hard_cap_cents`, with strict caps `held_cents`. Its message
 * leads to whom and where the operator has said in `dashboard`.
 */
export function createCapError(cap: ReachedCap, dashboard: DashboardAddress): GatewayError {
  const spentCents = wholeCents(cap.spentMicrocents);
  const fields = { scope: cap.scope, spent_cents: spentCents, hard_cap_cents: cap.hardCapCents };
  const held = cap.held === undefined ? {} : { held_cents: ceilCents(cap.held.heldMicrocents) };
  return new GatewayError(cap.scope === "key" ? "hard_cap_reached" : "org_hard_cap_reached", {
    message: `${describeCap(cap, spentCents)} ${describeRemedy(cap, dashboard)}`,
    fields: { ...fields, ...held },
  });
}

function describeCap(cap: ReachedCap, spentCents: number): string {
  const subject = cap.scope === "key" ? `API key "${cap.name}"` : `organization "${cap.name}"`;
  const amount = `Monthly hard cap of ${formatCents(cap.hardCapCents, cap.currency)} for ${subject}`;
  const spent = `${formatCents(spentCents, cap.currency)} spent in ${formatMonthName(cap.month)}`;
  if (cap.held === undefined || isReached(cap)) return `${amount} reached: ${spent}.`;
  const heldCents = ceilCents(cap.held.heldMicrocents);
  const worstCents = ceilCents(cap.held.worstCaseMicrocents);
  const worst = `this request may cost up to ${formatCents(worstCents, cap.currency)}`;
  const sum = `${spent}, ${formatCents(heldCents, cap.currency)} held for requests in flight, and ${worst}.`;
  return `${amount} would be passed: ${sum}${inFlightOnly(cap) ? " Only the requests in flight stand in its way: it may pass when they have ended." : ""}`;
}

function describeRemedy(cap: ReachedCap, dashboard: DashboardAddress): string {
  const ask = dashboard.contact === null ? "" : ` or ask ${dashboard.contact}`;
  return `${describeRaise(cap, dashboard.baseUrl)}${ask}, or wait until ${formatResetsAt(cap.month)}.`;
}

function describeRaise(cap: ReachedCap, dashboardUrl: string | null): string {
  if (dashboardUrl !== null) return `Raise it on ${dashboardUrl}${formatLimitPath(cap, "hard_cap")}`;
  return cap.scope === "key"
    ? "Raise the cap on the API keys page"
    : "Raise it in the organization's inference settings";
}

function isReached(cap: ReachedCap): boolean {
  return cap.spentMicrocents >= BigInt(cap.hardCapCents) * BigInt(MICROCENTS_PER_CENT);
}

/** Rounded up: what is set aside is never shown as less than it is. */
function ceilCents(microcents: bigint): number {
  return 0 - wholeCents(-microcents);
}

/** Whether the request would fit if nothing else were in flight. */
function inFlightOnly(cap: ReachedCap): boolean {
  if (cap.held === undefined) return false;
  return (
    cap.spentMicrocents + cap.held.worstCaseMicrocents <=
    BigInt(cap.hardCapCents) * BigInt(MICROCENTS_PER_CENT)
  );
}
