import type { Clock } from "../clock.ts";
import { isOutOfReach } from "../limits/grace-errors.ts";
import type { GraceOutage } from "../limits/grace-outage.ts";
import type { GraceSpend } from "../limits/grace-spend.ts";
import type { RequestAccount } from "./request-account.ts";
import type { Spool } from "./spool.ts";

export interface SpoolOpenServices {
  readonly spool?: Pick<Spool, "append">;
  readonly outage?: GraceOutage;
  readonly spend?: GraceSpend;
  readonly clock: Pick<Clock, "nowMs">;
  readonly logger: { error(fields: object, message: string): void };
}

/**
 * Puts a request whose hold Redis did not answer on record in the spool instead, where the grace time lets it go on.
 * Returns whether it may go upstream; never with strict caps, and never unless its record is on disk.
 */
export async function openInSpool(
  { spool, outage, spend, clock, logger }: SpoolOpenServices,
  account: RequestAccount,
  error: unknown,
  hasStrictCaps: boolean,
): Promise<boolean> {
  if (spool === undefined || outage === undefined || hasStrictCaps || !isOutOfReach(error)) return false;
  const { identity, promptFloorMicrocents: floorMicrocents, estimatedInputTokens } = account;
  outage.missed(identity.organizationId);
  if (!outage.isInGrace(identity.organizationId)) return false;
  // Nobody knows whether the hold is there, and the spool will send a charge: the record must stay.
  account.hasUnansweredCommand = true;
  const opened = { ...identity, floorMicrocents, floorInputTokens: estimatedInputTokens };
  try {
    await spool.append({ kind: "open", atMs: clock.nowMs(), opened });
  } catch (failure) {
    const fields = { request_id: identity.requestId, err: failure };
    logger.error(fields, "a request is refused: it could not be put in the spool");
    return false;
  }
  spend?.counted(identity, floorMicrocents);
  return true;
}
