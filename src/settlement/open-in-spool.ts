import type { Clock } from "../time/clock.ts";
import { GatewayError } from "../contract/errors.ts";
import { isOutOfReach } from "../grace/out-of-reach.ts";
import type { GraceOutage } from "../grace/grace-outage.ts";
import type { Logger } from "../host/logger.ts";
import type { RequestAccount } from "./request-account.ts";
import type { Spool } from "../spool/spool.ts";

export interface SpoolOpenServices {
  readonly spool: Pick<Spool, "append">;
  readonly outage: GraceOutage;
  readonly clock: Pick<Clock, "nowMs">;
  readonly logger: Logger<"error">;
}

export interface UnansweredHold {
  /** What the store rejected with. */
  readonly error: unknown;
  readonly isStrict: boolean;
  /**
   * Takes one of this worker's share of the places that the key has for requests in flight. Null, or the error when
   * there is none left.
   */
  readonly takePlace: () => GatewayError | null;
}

/**
 * Puts a request whose hold Redis did not answer on record in the spool instead, where the grace time lets it go on.
 * Null when it may go upstream, else the client's error; never null with strict caps, nor unless its record is on disk.
 */
export async function openInSpool(
  { spool, outage, clock, logger }: SpoolOpenServices,
  account: RequestAccount,
  { error, isStrict, takePlace }: UnansweredHold,
): Promise<GatewayError | null> {
  const unavailable = new GatewayError("gateway_unavailable", { cause: error });
  if (isStrict || !isOutOfReach(error)) return unavailable;
  const { identity, opened } = account;
  outage.missed(identity.organizationId);
  if (!outage.isInGrace(identity.organizationId)) return unavailable;
  const full = takePlace();
  if (full !== null) return full;
  // Nobody knows whether the hold is there, and the spool will send a charge: the record must stay.
  account.hasUnansweredCommand = true;
  try {
    await spool.append({ kind: "open", atMs: clock.nowMs(), opened });
  } catch (failure) {
    const fields = { request_id: identity.requestId, err: failure };
    logger.error(fields, "a request is refused: it could not be put in the spool");
    return unavailable;
  }
  return null;
}
