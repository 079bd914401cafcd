/** What Redis answers while it cannot serve, though it is there: nothing was executed then. */
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
 * Whether an error of the store says that Redis is unreachable: no connection, no answer in time, or an answer that it
 * cannot serve now. Everything else (a script's own error, a reply that makes no sense) is a fault, not an outage.
 */
export function isOutOfReach(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError) return false;
  if (error.name !== "ReplyError") return true;
  return UNAVAILABLE.has(error.message.slice(0, error.message.search(/ |$/)));
}
