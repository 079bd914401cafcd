import { describeOldNode } from "./node-version.js";

/**
 * Runs the body of a set-up program: an old Node or a missing prerequisite ends with one sentence on stderr and exit
 * code 1, anything unexpected with its stack.
 *
 * @param {() => Promise<void>} body
 * @returns {Promise<void>}
 */
export async function runStep(body) {
  const oldNode = describeOldNode(process.versions.node);
  if (oldNode !== null) {
    process.stderr.write(`${oldNode}\n`);
    process.exitCode = 1;
    return;
  }
  try {
    await body();
  } catch (error) {
    const known = error instanceof Error && error.name === "SetupError";
    process.stderr.write(`${known ? error.message : formatUnexpected(error)}\n`);
    process.exitCode = 1;
  }
}

/** @param {unknown} error */
function formatUnexpected(error) {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
