/** Why a command failed, in a sentence that says what to do; no stack is shown with it. Exit code 1. */
export class CommandError extends Error {
  override readonly name: string = "CommandError";
}

/** The server has refused a call, in the API's words. */
export class RefusedCall extends CommandError {
  /** The API's name of the field that it is about; null: it is about none. */
  readonly param: string | null;
  /** Of the HTTP answer. */
  readonly status: number;

  constructor(message: string, param: string | null, status: number) {
    super(message);
    this.param = param;
    this.status = status;
  }
}

/** A command line that cannot be run as it stands, and what is missing in it. Exit code 2. */
export class UsageError extends CommandError {
  override readonly name = "UsageError";
}
