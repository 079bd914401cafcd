import type { LimitPeriod } from "../../../shared/settings/limits.ts";
import type { ChargeInput } from "./settlement.ts";

/** The window of a cap. */
export interface OwnWindow {
  readonly period: LimitPeriod;
  /** A day of it, "2026-11-21". */
  readonly day: string;
  /** The key, user, group or organization of the cap. */
  readonly subjectId: string;
}

/**
 * Whoever keeps count of what this process charges. Told of each reply in the order in which Redis executed the commands,
 * before whoever sent them goes on: of replies that arrive in one piece, too.
 */
export interface OwnSpend {
  /** Redis has this charge or a later one of its request, or will never take it. */
  acknowledged(charge: ChargeInput): void;
  /** Whether it was executed nobody knows. */
  unanswered(charge: ChargeInput): void;
  /**
   * An admission was answered: what this process has charged itself of the spend in a window that the answer has. Of a
   * period other than the month since the organization's first such answer.
   */
  inReply(organizationId: string, window: OwnWindow): bigint;
  /** Redis has not acknowledged all that this process has charged the organization in the month of a day. */
  isBehind(organizationId: string, day: string): boolean;
}

/** Of a process that charges nothing, or does not care. */
export const NO_OWN_SPEND: OwnSpend = {
  acknowledged: () => undefined,
  unanswered: () => undefined,
  inReply: () => 0n,
  isBehind: () => false,
};
