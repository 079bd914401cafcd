/** Thrown if `serve` or a worker cannot start: a sentence for the operator, shown without a stack. */
export class StartError extends Error {
  override readonly name = "StartError";
}
