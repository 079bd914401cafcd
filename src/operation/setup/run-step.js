import { describeOldNode, isTooOld } from "./node-version.js";
import { SetupError } from "./setup-error.js";

/**
 * Runs the body of a setup program. A missing prerequisite, such as a new enough Node, ends with one sentence
 * on stderr and exit code 1; unexpected errors end with a stack.
 *
 * @param {() => Promise<void>} body imports modules that an old Node cannot parse
 * @returns {Promise<void>}
 */
export function runStep(body) {
  return runOnAnyNode(async () => {
    if (isTooOld(process.versions.node)) {
      throw new SetupError(
        `${describeOldNode()}: install a newer one, or use the script of package.json, which does.`,
      );
    }
    await body();
  });
}

/**
 * Same without the check of Node's version.
 *
 * @param {() => Promise<void>} body
 * @returns {Promise<void>}
 */
export async function runOnAnyNode(body) {
  try {
    await body();
  } catch (error) {
    process.stderr.write(`${describeFailure(error)}\n`);
    process.exitCode = 1;
  }
}

/**
 * Returns the sentence of a SetupError, otherwise the error's stack.
 *
 * @param {unknown} error
 * @returns {string}
 */
export function describeFailure(error) {
  if (!(error instanceof Error)) return String(error);
  return error.name === "SetupError" ? error.message : (error.stack ?? error.message);
}
