import { ZodError } from "zod";
import { FullError, MOST } from "../../data-path/store/types/most.ts";
import { AdminError, refuseMore } from "./admin-error.ts";

/** What the program itself got wrong; everything else that a call of the store throws is Redis's absence. */
const DEFECTS = [TypeError, RangeError, SyntaxError, ReferenceError, ZodError];
/** Error replies with which Redis says that it cannot serve now; any other one is a defect of a command. */
const UNAVAILABLE_REPLY =
  /^(?:LOADING|READONLY|CLUSTERDOWN|MASTERDOWN|TRYAGAIN|NOREPLICAS|OOM|BUSY|MISCONF|NOAUTH|WRONGPASS)\b/;

const UNKNOWN_OUTCOME =
  "Redis can't be reached at the moment, so the outcome of this change is unknown. Read the object before you repeat the change.";

/**
 * The error that the caller reads for whatever a call has thrown.
 * @param isWrite The call changes something: a lost answer of Redis then leaves open whether it did.
 */
export function convertError(thrown: unknown, isWrite: boolean): AdminError {
  if (thrown instanceof AdminError) return thrown;
  if (thrown instanceof FullError) return refuseMore(thrown.kind, MOST[thrown.kind]);
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
