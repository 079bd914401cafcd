/**
 * Error 402 of a reached hard cap: its scope, amount, spend and window, and what to do. Redis decides, in the
 * same step as the rest of an admission or of `openRecord`; this file only builds the error.
 */
import { CAP_CODES, GatewayError } from "../../../shared/contract/errors.ts";
import {
  ceilCents,
  formatCents,
  isReached,
  remainingOfLimit,
  wholeCents,
} from "../../../shared/money/money.ts";
import { describeWindow, formatWindowEnd } from "../../../shared/time/periods.ts";
import type { DashboardAddress } from "../../../shared/contract/pages.ts";
import {
  describeExceeded,
  describeLimit,
  describeReached,
  type NamedLimit,
  formatLimitPath,
} from "../../../shared/settings/limit-words.ts";
import type { LimitPeriod } from "../../../shared/settings/limits.ts";
import { LIMIT_SCOPES, type LimitScope } from "../../../shared/stored/decision.ts";

/** Output limit that would fit, if the requested one does not. */
export interface Affordable {
  /** Null: the body was not read. */
  readonly requestedTokens: number | null;
  /** Maximum that would fit now; 0 if not even the prompt fits. */
  readonly affordableTokens: number;
}

/** Amounts requested under strict caps. */
export interface RequestedHold {
  readonly worstCaseMicrocents: bigint;
  /** @see ReachedCap.affordable */
  readonly affordable: Affordable | null;
}

/** Output limit that was lowered to what the caps allow. */
export interface Shrunk {
  /** Requested output limit of each answer. */
  readonly requestedTokens: number;
  readonly maxTokens: number;
  /** Scope of the tightest cap. */
  readonly scope: LimitScope | "session";
  readonly period: LimitPeriod | "session";
  /** True if the client must not see figures that reveal the cap's amount. */
  readonly isHidden: boolean;
}

export interface ReachedCap {
  readonly scope: LimitScope;
  readonly period: LimitPeriod;
  readonly organizationId: string;
  readonly keyId: string;
  /** User or group of the cap; null for other scopes. */
  readonly ownerId: string | null;
  /** Name of the key, user, group or organization. */
  readonly name: string;
  /** Cap in force, including active temporary increases. */
  readonly capCents: number;
  readonly raisedCents: number;
  readonly spentMicrocents: bigint;
  readonly currency: string;
  /** True if the organization hides amounts of all scopes but the key from clients. */
  readonly areAmountsHidden: boolean;
  /** Day of the admission, "2026-11-21", which determines the window. */
  readonly day: string;
  /** Only with strict caps: reserved amount of requests in flight, and worst case of this one. */
  readonly held?: { readonly heldMicrocents: bigint; readonly worstCaseMicrocents: bigint };
  /** Only with strict caps. Null or omitted: the client's protocol has no output limit. */
  readonly affordable?: Affordable | null;
}

/** Where the cap is raised, if the dashboard's address is not configured. */
const RAISES: Readonly<Record<LimitScope, string>> = {
  key: "Raise the cap on the API keys page",
  user: "Raise the cap on the Users page",
  group: "Raise the cap on the Groups page",
  organization: "Raise it in the organization's inference settings",
};

/** Returns the scope of a cap's error code; null for other codes and sessions. */
export function capScopeOf(code: string | null): LimitScope | null {
  return LIMIT_SCOPES.find((scope) => CAP_CODES[scope] === code) ?? null;
}

/**
 * Builds the published 402 error: `scope`, `spent_cents`, `hard_cap_cents`, with strict caps `held_cents` and
 * `affordable_max_tokens`; `period` and its end. The message names the contact and address from `dashboard`.
 */
export function createCapError(cap: ReachedCap, dashboard: DashboardAddress): GatewayError {
  const isHidden = isHiddenFromClients(cap);
  const described = isHidden ? describeHidden(cap) : `${describeCap(cap)}${describeAffordable(cap)}`;
  return new GatewayError(CAP_CODES[cap.scope], {
    message: `${described} ${describeRemedy(cap, dashboard)}`,
    fields: {
      scope: cap.scope,
      period: cap.period,
      resets_at: formatWindowEnd(cap.period, cap.day),
      ...(isHidden ? {} : formatFigures(cap)),
    },
  });
}

/** Returns whether the amounts of the cap are hidden: only the key's own are always visible. */
export function isHiddenFromClients(cap: Pick<ReachedCap, "areAmountsHidden" | "scope">): boolean {
  return cap.areAmountsHidden && cap.scope !== "key";
}

/** Returns the published figures of a cap. */
export function formatFigures(
  cap: Pick<ReachedCap, "spentMicrocents" | "capCents" | "raisedCents" | "held" | "affordable">,
) {
  return {
    spent_cents: wholeCents(cap.spentMicrocents),
    hard_cap_cents: cap.capCents,
    ...(cap.raisedCents === 0 ? {} : { raised_cents: cap.raisedCents }),
    ...(cap.held === undefined ? {} : { held_cents: ceilCents(cap.held.heldMicrocents) }),
    ...(cap.affordable ? { affordable_max_tokens: cap.affordable.affordableTokens } : {}),
  };
}

/**
 * Describes the output that the request could still pay for, in a form that clients parse.
 * @see https://openrouter.ai/docs/api-reference/errors
 */
export function describeAffordable({ affordable }: Pick<ReachedCap, "affordable">): string {
  if (!affordable || affordable.requestedTokens === null) return "";
  const { requestedTokens, affordableTokens } = affordable;
  return ` You requested up to ${requestedTokens} tokens, but can only afford ${affordableTokens}.`;
}

/** Describes a hidden cap without its amount or how close the spend is. */
function describeHidden(cap: ReachedCap): string {
  const subject = describeLimit(limitOf(cap), null);
  if (isCapReached(cap)) return `${subject} reached ${describeWindow(cap.period, cap.day)}.`;
  return `${subject} would be exceeded by this request and the ones in flight.`;
}

function limitOf({ scope, name, period }: ReachedCap): NamedLimit {
  return { scope, name, period, kind: "cap" };
}

function describeCap(cap: ReachedCap): string {
  const format = (cents: number): string => formatCents(cents, cap.currency);
  const spend = {
    amount: format(cap.capCents),
    spent: format(wholeCents(cap.spentMicrocents)),
    day: cap.day,
  };
  if (cap.held === undefined || isCapReached(cap)) return describeReached(limitOf(cap), spend);
  const reserved = format(ceilCents(cap.held.heldMicrocents));
  const worst = format(ceilCents(cap.held.worstCaseMicrocents));
  const exceeded = describeExceeded(limitOf(cap), { ...spend, reserved, worst });
  return `${exceeded}${inFlightOnly(cap) ? " Only requests in flight block this request. Try again when they have ended." : ""}`;
}

function describeRemedy(cap: ReachedCap, dashboard: DashboardAddress): string {
  const contactText = dashboard.contact === null ? "" : ` or ask ${dashboard.contact}`;
  const resetsAt = formatWindowEnd(cap.period, cap.day);
  const wait = resetsAt === null || !canWaitHelp(cap) ? null : `wait until ${resetsAt}`;
  const raise = `${describeRaise(cap, dashboard.baseUrl)}${contactText}`;
  const remedies = [canShortenHelp(cap) ? "Lower the output limit" : null, raise, wait].filter(
    (remedy) => remedy !== null,
  );
  return `${remedies.map((remedy, place) => (place === 0 ? remedy : lowerFirst(remedy))).join(", or ")}.`;
}

function lowerFirst(text: string): string {
  return text.slice(0, 1).toLowerCase() + text.slice(1);
}

/** Returns whether a shorter response would fit, by figures that the client may read. */
function canShortenHelp(cap: ReachedCap): boolean {
  return !isHiddenFromClients(cap) && (cap.affordable?.affordableTokens ?? 0) > 0;
}

/**
 * Returns whether the request could pass in an empty window. For hidden amounts the text is the same for
 * every amount.
 */
function canWaitHelp(cap: ReachedCap): boolean {
  if (isHiddenFromClients(cap)) return true;
  return cap.capCents > 0 && remainingOfLimit(cap.capCents, cap.held?.worstCaseMicrocents ?? 0n) >= 0n;
}

function describeRaise(cap: ReachedCap, dashboardUrl: string | null): string {
  if (dashboardUrl === null) return RAISES[cap.scope];
  return `Raise the cap on ${dashboardUrl}${formatLimitPath(cap)}`;
}

function isCapReached({ capCents, spentMicrocents }: ReachedCap): boolean {
  return isReached(capCents, spentMicrocents);
}

/** Returns whether the request would fit if nothing else were in flight. */
function inFlightOnly(cap: ReachedCap): boolean {
  if (cap.held === undefined) return false;
  return remainingOfLimit(cap.capCents, cap.spentMicrocents + cap.held.worstCaseMicrocents) >= 0n;
}
