import { ZodError } from "zod";
import { FullError, MAX_RECORDS } from "../../shared/stored/max-records.ts";
import { AdminError, refuseMore } from "./admin-error.ts";

/** Defects of the program; all other errors of a call to the store mean that Redis is unavailable. */
const DEFECTS = [TypeError, RangeError, SyntaxError, ReferenceError, ZodError];
/** Error replies of a Redis that cannot serve at the moment; all others are defects of a command. */
const UNAVAILABLE_REPLY =
  /^(?:LOADING|READONLY|CLUSTERDOWN|MASTERDOWN|TRYAGAIN|NOREPLICAS|OOM|BUSY|MISCONF|NOAUTH|WRONGPASS)\b/;

const UNKNOWN_OUTCOME =
  "Redis can't be reached at the moment, so the outcome of this change is unknown. Read the object before you repeat the change.";

/**
 * Converts anything that a call has thrown to the error for the caller.
 * @param isWrite The call changes something: after a lost reply of Redis it is unknown whether it did.
 */
export function convertError(thrown: unknown, isWrite: boolean): AdminError {
  if (thrown instanceof AdminError) return thrown;
  if (thrown instanceof FullError) return refuseMore(thrown.kind, MAX_RECORDS[thrown.kind]);
  if (!isUnavailability(thrown)) return new AdminError("internal_error", { cause: thrown });
  return new AdminError("gateway_unavailable", {
    cause: thrown,
    ...(isWrite ? { message: UNKNOWN_OUTCOME } : {}),
  });
}

function isUnavailability(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return false;
  if (thrown.name === "ReplyError") return UNAVAILABLE_REPLY.test(thrown.message);
  return !DEFECTS.some((defect) => thrown instanceof defect);
}
