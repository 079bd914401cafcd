/** Work in steps, so that a process can serve others in between. */
export type Steps<Result> = Generator<void, Result, void>;

/** Runs all steps at once. @throws Errors of a step. */
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
