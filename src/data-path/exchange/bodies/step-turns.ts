/**
 * Shares the event loop between large bodies and other requests. Work on large bodies takes hundreds of milliseconds,
 * and another request needs the loop several times until it has its response. So all large bodies together run one
 * step at a time, and after each step the loop rests for as long as the step took. Another request fits into that
 * rest, so it waits for one step at most, however many large bodies there are.
 */
import type { Steps } from "../../../shared/event-loop/steps.ts";

/** A longer step was most likely interrupted: the machine slept, or the process was stopped. */
const MAX_REST_MS = 1_000;
/** Shorter steps need no rest. */
const SHORT_MS = 2;

export class StepTurns {
  #last: Promise<void> = Promise.resolve();

  /** Rejects with the error of a step. */
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
