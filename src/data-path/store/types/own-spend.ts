import type { ChargeInput, RequestIdentity } from "./settlement.ts";

/** What of a reply's spend this process has charged itself. */
export interface OwnInReply {
  /** Microcents; at most, where a charge was not answered. */
  readonly keyMicrocents: bigint;
  readonly organizationMicrocents: bigint;
  /** Redis has not acknowledged all that this process has charged the organization. */
  readonly isBehind: boolean;
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
  /** An admission was answered: what is in its figures. */
  inReply(subject: Pick<RequestIdentity, "organizationId" | "keyId" | "month">): OwnInReply;
  /**
   * The same answer told what was spent in a window of another cap. What of it is this process's own, of what it counts
   * of the organization's windows since it first heard of such a cap.
   * @param window As `windowName` has it.
   * @param subjectId Of the key, user, group or organization.
   */
  inReplyOfWindow(organizationId: string, window: string, subjectId: string): bigint;
}

export const NOTHING_OWN: OwnInReply = { keyMicrocents: 0n, organizationMicrocents: 0n, isBehind: false };

/** Of a process that charges nothing, or does not care. */
export const NO_OWN_SPEND: OwnSpend = {
  acknowledged: () => undefined,
  unanswered: () => undefined,
  inReply: () => NOTHING_OWN,
  inReplyOfWindow: () => 0n,
};
