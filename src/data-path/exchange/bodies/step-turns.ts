/**
 * Work on large bodies takes hundreds of milliseconds, and a request of others needs the event loop several times until it
 * has its answer. So of all large bodies together one step is taken at a time, and after each the loop is left to others for
 * as long as the step took: a whole request of theirs fits in, so it waits for one step, however many large bodies there are.
 */
import type { Steps } from "../../../shared/event-loop/steps.ts";

/** A step that takes longer was most likely interrupted: the machine slept, or the process was stopped. */
const MAX_REST_MS = 1_000;
/** What is shorter keeps nobody waiting. */
const SHORT_MS = 2;

export class StepTurns {
  #last: Promise<void> = Promise.resolve();

  /** Rejects with what a step throws. */
  async run<Result>(steps: Steps<Result>): Promise<Result> {
    for (;;) {
      let tookMs = 0;
      const turn = this.#last.then(() => {
        const startMs = performance.now();
        try {
          return steps.next();
        } finally {
          tookMs = performance.now() - startMs;
        }
      });
      const rest = (): Promise<void> => restAfter(tookMs);
      this.#last = turn.then(rest, rest);
      const step = await turn;
      if (step.done === true) return step.value;
    }
  }
}

function restAfter(tookMs: number): Promise<void> {
  return new Promise((resolve) => {
    if (tookMs < SHORT_MS) setImmediate(resolve);
    else setTimeout(resolve, Math.min(tookMs, MAX_REST_MS));
  });
}
