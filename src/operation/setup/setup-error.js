/**
 * Thrown if something is missing that the setup cannot install. The message is one sentence that says what to
 * install or to change, and is shown without a stack.
 */
export class SetupError extends Error {
  /**
   * @param {string} message one sentence
   * @param {{cause?: unknown}} [options]
   */
  constructor(message, options) {
    super(message, options);
    this.name = "SetupError";
  }
}
