/** Why a command failed, in a sentence that says what to do; no stack is shown with it. Exit code 1. */
export class CommandError extends Error {
  override readonly name = "CommandError";
}
