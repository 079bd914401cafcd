/** Thrown if a command fails: a sentence with instructions, shown without a stack. Exit code 1. */
export class CommandError extends Error {
  override readonly name: string = "CommandError";
}

/** Thrown if the server rejected a call, with the API's message. */
export class RefusedCall extends CommandError {
  /** API name of the field in question, or null. */
  readonly param: string | null;
  /** Status of the HTTP response. */
  readonly status: number;

  constructor(message: string, param: string | null, status: number) {
    super(message);
    this.param = param;
    this.status = status;
  }
}

/** Thrown for an invalid command line. Exit code 2. */
export class UsageError extends CommandError {
  override readonly name = "UsageError";
}
