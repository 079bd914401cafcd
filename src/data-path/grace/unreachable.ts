/** Error replies of a Redis that cannot serve at the moment: nothing was executed. */
const UNAVAILABLE = new Set([
  "BUSY",
  "CLUSTERDOWN",
  "LOADING",
  "MASTERDOWN",
  "MISCONF",
  "NOREPLICAS",
  "OOM",
  "READONLY",
  "TRYAGAIN",
  "UNBLOCKED",
]);

/**
 * Returns whether an error of the store means that Redis is unreachable: no connection, no reply in time, or
 * a reply that it cannot serve now. All other errors (a script's own, a malformed reply) are defects.
 */
export function isUnreachable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError) return false;
  if (error.name !== "ReplyError") return true;
  return UNAVAILABLE.has(error.message.slice(0, error.message.search(/ |$/)));
}
