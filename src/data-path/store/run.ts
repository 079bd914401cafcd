/**
 * The only way to Redis: each operation of the store passes its commands to `Run`, which rejects while the
 * store is not open and measures how long each reply took.
 */
import type { StoreContext } from "./context.ts";
import type { Store } from "../../shared/stored/store.ts";

/** Names of the store's operations. */
export type Operation = Exclude<keyof Store, "firedAlerts" | "spendFalls" | "uncappedSessions">;

/** Runs commands. Rejects as `commands` does, or because the store is not open; then nothing was sent. */
export type Run = <Answer>(
  operation: Operation,
  commands: (context: StoreContext) => Promise<Answer>,
) => Promise<Answer>;

/** Receives the duration of every operation that was started. */
export interface OperationMeter {
  /** Also called after a timeout or an error. */
  ended(operation: Operation, durationMs: number, isFailed: boolean): void;
}

export interface RunOptions {
  readonly context: StoreContext;
  /** While false, every operation rejects: nothing is written before the version of the data is known. */
  readonly isOpen: () => boolean;
  readonly meter: OperationMeter | null;
}

export function createRun({ context, isOpen, meter }: RunOptions): Run {
  return (operation, commands) => {
    if (!isOpen()) return Promise.reject(new Error("Redis has not answered since the start"));
    if (meter === null) return commands(context);
    const startMs = performance.now();
    const answer = commands(context);
    // The meter runs in parallel with the caller, which waits for no additional promise.
    answer.then(
      () => meter.ended(operation, performance.now() - startMs, false),
      () => meter.ended(operation, performance.now() - startMs, true),
    );
    return answer;
  };
}

/** Operations of one subject, each with `Run` as its first parameter; `Subject` documents them. */
export type Operations<Subject> = {
  readonly [Name in keyof Subject]: Subject[Name] extends (...input: infer Input) => infer Answer
    ? (context: StoreContext, ...input: Input) => Answer
    : never;
};

/** Builds a subject's part of the store: each operation sends its commands through `run`. */
export function storeOf<Subject extends Partial<Store>>(
  operations: Operations<Subject>,
): (run: Run) => Subject {
  const named = Object.entries(operations) as [Operation, (...input: unknown[]) => Promise<unknown>][];
  return (run) => {
    const methods = named.map(([name, operation]) => [
      name,
      (...input: unknown[]) => run(name, (context) => operation(context, ...input)),
    ]);
    return Object.fromEntries(methods) as Subject;
  };
}
