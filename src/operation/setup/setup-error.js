/**
 * Something is missing that the set-up cannot get by itself. The message is one sentence that says what to install
 * or to change: it is all that the person sees, without a stack.
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
