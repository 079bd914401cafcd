// Runs on the server, and in browsers while the user types a rate.

/** Number of requests that a full bucket admits at once, as in the bucket's own rule; a test compares both. */
const MIN_BURST = 10;
const BURSTS_PER_MINUTE = 10;

/**
 * Describes a rate: "60 rpm: 1 request per second, bursts of 10".
 *
 * @param {number} perMinute
 * @returns {string}
 */
export function describeRate(perMinute) {
  const burst = Math.max(MIN_BURST, Math.floor(perMinute / BURSTS_PER_MINUTE));
  return `${formatCount(perMinute)} rpm: ${describePace(perMinute)}, bursts of ${formatCount(burst)}`;
}

/** @param {number} perMinute */
function describePace(perMinute) {
  if (perMinute < 60) {
    const seconds = Number((60 / perMinute).toFixed(1));
    return `1 request every ${seconds} seconds`;
  }
  const perSecond = Number((perMinute / 60).toFixed(1));
  return `${formatCount(perSecond)} request${perSecond === 1 ? "" : "s"} per second`;
}

/** @param {number} count */
function formatCount(count) {
  return count.toLocaleString("en-US");
}
