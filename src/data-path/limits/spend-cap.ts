/**
 * The 402 of a reached hard cap: whose cap, its amount, what is spent, in which window, and what to do. The decision is
 * made in Redis, in one step with everything else of an admission or a hold; this only puts it into words.
 */
import { type ErrorCode, GatewayError } from "../../shared/contract/errors.ts";
import { ceilCents, formatCents, isReached, roomUnder, wholeCents } from "../../shared/money/money.ts";
import { describeWindow, formatWindowEnd } from "../../shared/time/calendar.ts";
import { type DashboardAddress, formatLimitPath } from "../../shared/contract/pages.ts";
import {
  describeExceeded,
  describeLimit,
  describeReached,
  type NamedLimit,
} from "../../shared/settings/limit-words.ts";
import type { LimitPeriod } from "../../shared/settings/limits.ts";
import { LIMIT_SCOPES, type LimitScope } from "../store/types/decision.ts";

/** How long each answer to a request may be: what it asked for does not fit. */
export interface Affordable {
  /** Null: nobody has read it. */
  readonly requestedTokens: number | null;
  /** The most that would fit now; 0 where not even the prompt does. */
  readonly affordableTokens: number;
}

/** What strict caps were asked for. */
export interface AskedHold {
  readonly worstCaseMicrocents: bigint;
  /** @see ReachedCap.affordable */
  readonly affordable: Affordable | null;
}

/** A limit of output that was lowered to what the caps left room for. */
export interface Shrunk {
  /** The limit of output that the request asked for, of each of its answers. */
  readonly requestedTokens: number;
  readonly maxTokens: number;
  /** The cap that left least room. */
  readonly scope: LimitScope | "session";
  readonly period: LimitPeriod | "session";
  /** The client is told no figure from which that cap's amount follows. */
  readonly isHidden: boolean;
}

export interface ReachedCap {
  readonly scope: LimitScope;
  readonly period: LimitPeriod;
  readonly organizationId: string;
  readonly keyId: string;
  /** The user or the group whose cap it is; null: the cap is another's. */
  readonly ownerId: string | null;
  /** The name of whose cap it is. */
  readonly name: string;
  /** The cap in force, live raises included. */
  readonly capCents: number;
  readonly raisedCents: number;
  readonly spentMicrocents: bigint;
  readonly currency: string;
  /** As the organization wants it: clients are told no figures of what is not their key's. */
  readonly areAmountsHidden: boolean;
  /** The day of the admission, "2026-11-21": the window is the one that it is in. */
  readonly day: string;
  /** Strict caps only: what requests in flight may still cost, and what this one may. */
  readonly held?: { readonly heldMicrocents: bigint; readonly worstCaseMicrocents: bigint };
  /** Strict caps only. Null or left out: the client has no such limit. */
  readonly affordable?: Affordable | null;
}

interface ScopeWords {
  readonly code: ErrorCode;
  /** Where it is raised, as long as nobody has said where the dashboard is. */
  readonly raise: string;
}

const SCOPES: Readonly<Record<LimitScope, ScopeWords>> = {
  key: { code: "hard_cap_reached", raise: "Raise the cap on the API keys page" },
  user: { code: "user_hard_cap_reached", raise: "Raise the cap on the Users page" },
  group: { code: "group_hard_cap_reached", raise: "Raise the cap on the Groups page" },
  organization: { code: "org_hard_cap_reached", raise: "Raise it in the organization's inference settings" },
};

/** Whose cap an error code is of; null: it is no cap's, or a session's. */
export function capScopeOf(code: string | null): LimitScope | null {
  return LIMIT_SCOPES.find((scope) => SCOPES[scope].code === code) ?? null;
}

/**
 * The published 402 body's error: `scope`, `spent_cents`, `hard_cap_cents`, with strict caps `held_cents` and
 * `affordable_max_tokens`; `period` and when it ends. Its message leads to whom and where the operator has said in `dashboard`.
 */
export function createCapError(cap: ReachedCap, dashboard: DashboardAddress): GatewayError {
  const isHidden = isHiddenFromClients(cap);
  const described = isHidden ? describeHidden(cap) : `${describeCap(cap)}${describeAffordable(cap)}`;
  return new GatewayError(SCOPES[cap.scope].code, {
    message: `${described} ${describeRemedy(cap, dashboard)}`,
    fields: {
      scope: cap.scope,
      period: cap.period,
      resets_at: formatWindowEnd(cap.period, cap.day),
      ...(isHidden ? {} : formatFigures(cap)),
    },
  });
}

/** Hidden is what is not the key's own. */
export function isHiddenFromClients(cap: Pick<ReachedCap, "areAmountsHidden" | "scope">): boolean {
  return cap.areAmountsHidden && cap.scope !== "key";
}

/** The published figures of a cap. */
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
 * What the request could still pay for, in the words that clients look for.
 * @see https://openrouter.ai/docs/api-reference/errors
 */
export function describeAffordable({ affordable }: Pick<ReachedCap, "affordable">): string {
  if (!affordable || affordable.requestedTokens === null) return "";
  const { requestedTokens, affordableTokens } = affordable;
  return ` You requested up to ${requestedTokens} tokens, but can only afford ${affordableTokens}.`;
}

/** Not how much it is, nor how near. */
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
  return `${exceeded}${inFlightOnly(cap) ? " Only the requests in flight block it. Try again when they have ended." : ""}`;
}

function describeRemedy(cap: ReachedCap, dashboard: DashboardAddress): string {
  const ask = dashboard.contact === null ? "" : ` or ask ${dashboard.contact}`;
  const resetsAt = formatWindowEnd(cap.period, cap.day);
  const wait = resetsAt === null || !canWaitHelp(cap) ? null : `wait until ${resetsAt}`;
  const raise = `${describeRaise(cap, dashboard.baseUrl)}${ask}`;
  const ways = [canShortenHelp(cap) ? "Lower the output limit" : null, raise, wait].filter(
    (way) => way !== null,
  );
  return `${ways.map((way, place) => (place === 0 ? way : lowerFirst(way))).join(", or ")}.`;
}

function lowerFirst(text: string): string {
  return text.slice(0, 1).toLowerCase() + text.slice(1);
}

/** Whether a shorter response would fit, by a figure that the client may read. */
function canShortenHelp(cap: ReachedCap): boolean {
  return !isHiddenFromClients(cap) && (cap.affordable?.affordableTokens ?? 0) > 0;
}

/** Whether the request could pass in an empty window. Hidden amounts stay hidden: the text is the same for every amount. */
function canWaitHelp(cap: ReachedCap): boolean {
  if (isHiddenFromClients(cap)) return true;
  return cap.capCents > 0 && roomUnder(cap.capCents, cap.held?.worstCaseMicrocents ?? 0n) >= 0n;
}

function describeRaise(cap: ReachedCap, dashboardUrl: string | null): string {
  if (dashboardUrl === null) return SCOPES[cap.scope].raise;
  return `Raise the cap on ${dashboardUrl}${formatLimitPath(cap, "hard_cap")}`;
}

function isCapReached({ capCents, spentMicrocents }: ReachedCap): boolean {
  return isReached(capCents, spentMicrocents);
}

/** Whether the request would fit if nothing else were in flight. */
function inFlightOnly(cap: ReachedCap): boolean {
  if (cap.held === undefined) return false;
  return roomUnder(cap.capCents, cap.spentMicrocents + cap.held.worstCaseMicrocents) >= 0n;
}
