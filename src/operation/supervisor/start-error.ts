/** Why `serve` or a worker cannot start, in a sentence for the operator; no stack is shown with it. */
export class StartError extends Error {
  override readonly name = "StartError";
}
