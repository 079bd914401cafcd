/** Why a command failed, in a sentence that says what to do; no stack is shown with it. Exit code 1. */
export class CommandError extends Error {
  override readonly name: string = "CommandError";
}

/** A command line that cannot be run as it stands, and what is missing in it. Exit code 2. */
export class UsageError extends CommandError {
  override readonly name = "UsageError";
}
