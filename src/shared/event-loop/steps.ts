/** Work that can be done in steps, so that a process can serve others between two of them. */
export type Steps<Result> = Generator<void, Result, void>;

/** All of them in one go. @throws What a step throws. */
export function atOnce<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

// oxlint-disable-next-line require-yield -- it is one
export function* oneStep<Result>(work: () => Result): Steps<Result> {
  return work();
}
