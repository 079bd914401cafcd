/** The oldest Node that runs everything here; package.json names the same in `engines`. */
export const MINIMUM_NODE = "20.19.0";

/**
 * One sentence that says what to install when this Node is too old, else null. Called before anything else is
 * imported, so that an old Node ends with the sentence and not with a syntax error.
 *
 * @param {string} version as `process.versions.node` gives it
 * @returns {string | null}
 */
export function describeOldNode(version) {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [wantedMajor = 0, wantedMinor = 0] = MINIMUM_NODE.split(".").map(Number);
  if (major > wantedMajor || (major === wantedMajor && minor >= wantedMinor)) return null;
  return `This is Node ${version}: install Node ${wantedMajor}.${wantedMinor} or newer (20, 22 and 24 are tested).`;
}
