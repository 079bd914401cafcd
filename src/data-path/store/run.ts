/**
 * The one way to Redis: each operation of the store hands its commands to `Run`, which asks nothing of a Redis that is
 * not known yet, and tells how long the answer took.
 */
import type { StoreContext } from "./context.ts";
import type { Store } from "./types.ts";

/** What the store can be asked, by name. */
export type Operation = Exclude<keyof Store, "firedAlerts" | "spendFalls" | "uncappedSessions">;

/** Rejects, as `commands` does, or because the store is not open yet: then nothing was sent. */
export type Run = <Answer>(
  operation: Operation,
  commands: (context: StoreContext) => Promise<Answer>,
) => Promise<Answer>;

/** Hears of every operation that was begun. */
export interface OperationMeter {
  /** Also of an answer that never came or that was an error. */
  ended(operation: Operation, durationMs: number, isFailed: boolean): void;
}

export interface RunOptions {
  readonly context: StoreContext;
  /** Until it is, every operation rejects: nothing is written before it is known whose data is there. */
  readonly isOpen: () => boolean;
  readonly meter: OperationMeter | null;
}

export function createRun({ context, isOpen, meter }: RunOptions): Run {
  return (operation, commands) => {
    if (!isOpen()) return Promise.reject(new Error("Redis has not answered since the start"));
    if (meter === null) return commands(context);
    const startMs = performance.now();
    const answer = commands(context);
    // The meter hears of it beside the answer, not before it: the caller waits for no promise more than without a meter.
    answer.then(
      () => meter.ended(operation, performance.now() - startMs, false),
      () => meter.ended(operation, performance.now() - startMs, true),
    );
    return answer;
  };
}

/** The operations of one subject, each told the way to Redis first; what they promise stands with `Subject`. */
export type Operations<Subject> = {
  readonly [Name in keyof Subject]: Subject[Name] extends (...input: infer Input) => infer Answer
    ? (context: StoreContext, ...input: Input) => Answer
    : never;
};

/** What makes a subject's part of the store: each of its operations goes to Redis by `run`. */
export function storeOf<Subject extends Partial<Store>>(
  operations: Operations<Subject>,
): (run: Run) => Subject {
  const named = Object.entries(operations) as [Operation, (...input: unknown[]) => Promise<unknown>][];
  return (run) => {
    const asked = named.map(([name, operation]) => [
      name,
      (...input: unknown[]) => run(name, (context) => operation(context, ...input)),
    ]);
    return Object.fromEntries(asked) as Subject;
  };
}
