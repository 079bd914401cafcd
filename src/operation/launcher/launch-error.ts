/** Something that the person can set right: the message says what and how, and is all that is shown. */
export class LaunchError extends Error {
  override readonly name = "LaunchError";
}
