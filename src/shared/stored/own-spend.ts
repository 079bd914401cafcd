import type { LimitPeriod } from "../settings/limits.ts";
import type { ChargeInput } from "./settlement.ts";

/** Window of a cap. */
export interface OwnWindow {
  readonly period: LimitPeriod;
  /** One day of the window, "2026-11-21". */
  readonly day: string;
  /** Id of the cap's key, user, group or organization. */
  readonly subjectId: string;
}

/**
 * Account of this process's own charges. Called for each reply in the order in which Redis executed the
 * commands, before the sender of the command continues; this also holds for replies that arrive in one
 * packet.
 */
export interface OwnSpend {
  /** Redis has this charge or a later one of its request, or rejected it permanently. */
  acknowledged(charge: ChargeInput): void;
  /** It is unknown whether the charge was executed. */
  unanswered(charge: ChargeInput): void;
  /**
   * Called for an admission's reply. Returns how much of the spend in a window of the reply this process has
   * charged. For periods other than the month: since the organization's first such reply.
   */
  inReply(organizationId: string, window: OwnWindow): bigint;
  /** Returns whether charges of this process for the organization in a day's month are unacknowledged. */
  isBehind(organizationId: string, day: string): boolean;
}

/** For processes that charge nothing or need no account. */
export const NO_OWN_SPEND: OwnSpend = {
  acknowledged: () => undefined,
  unanswered: () => undefined,
  inReply: () => 0n,
  isBehind: () => false,
};
