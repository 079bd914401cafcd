/** Thrown for problems that the user can fix: the message has the instructions and is shown without a stack. */
export class LaunchError extends Error {
  override readonly name = "LaunchError";
}
