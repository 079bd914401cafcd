/**
 * Versions of Envoy and Redis that the test suite passes on. Used by the setup, `doctor` and `config check
 * --envoy`; a test compares the documentation.
 */

/** Minor versions of Envoy, oldest first. Older ones lack fields of the bootstrap. */
export const PROVEN_ENVOYS = ["1.39", "1.40"] as const;

/** Oldest Redis that runs the gateway's scripts. */
export const OLDEST_REDIS = "6.2";

/** Returns whether the minor version of `version` ("1.40.3") is `minor` ("1.40") or newer. */
export function isAtLeast(version: string, minor: string): boolean {
  const [major = 0, minorPart = 0] = version.split(".").map(Number);
  const [wantedMajor = 0, wantedMinor = 0] = minor.split(".").map(Number);
  return major > wantedMajor || (major === wantedMajor && minorPart >= wantedMinor);
}

/** Returns null for a proven minor version of Envoy, otherwise one sentence that names the proven ones. */
export function describeUnprovenEnvoy(version: string): string | null {
  if (PROVEN_ENVOYS.some((minor) => version.startsWith(`${minor}.`))) return null;
  return `Envoy ${version} is not one of the versions that this gateway is tested with (${PROVEN_ENVOYS.join(", ")}).`;
}
