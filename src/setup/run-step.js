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
    process.stderr.write(`${describeFailure(error)}\n`);
    process.exitCode = 1;
  }
}

/**
 * The sentence of a SetupError; of anything else its stack.
 *
 * @param {unknown} error
 * @returns {string}
 */
export function describeFailure(error) {
  if (!(error instanceof Error)) return String(error);
  return error.name === "SetupError" ? error.message : (error.stack ?? error.message);
}
