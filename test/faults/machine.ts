/**
 * Who has the machine. Under a load that the machine cannot carry Redis answers late and requests fail without a fault, so
 * only so many files of faults have a load at a time, each in its own process. While one only waits, for what a dead worker
 * left to be closed, it lets the next one begin. What else runs meanwhile in `npm test` mostly waits, too
 * (`test/support/waiting-files.ts`).
 */
import { join } from "node:path";
import { tryLock } from "../../src/operation/setup/lock.js";
import { waitFor } from "../support/wait.ts";

const FOLDER = join(import.meta.dirname, "../../.cache");
/** A load of the short form takes about half a core, one of the long form more than one. */
const PLACES = process.env["FAULTS"] === "long" ? ["faults-0"] : ["faults-0", "faults-1"];
/** Others are through by then, with their own waits for the machine. */
const WAIT_MS = 500_000;
/** For a hook that starts a stack, and may have to wait for the machine first. */
export const START_TIMEOUT_MS = 600_000;

type Lock = NonNullable<ReturnType<typeof tryLock>["lock"]>;

const taken = new Map<string, Lock>();

/** Resolves when this process has a place on the machine; at once when it has one already. */
export function takeMachine(): Promise<void> {
  return takePlaces(1);
}

/** Resolves when nobody else has a place. */
export function takeWholeMachine(): Promise<void> {
  return takePlaces(PLACES.length);
}

async function takePlaces(count: number): Promise<void> {
  const isTaken = (): boolean => {
    for (const place of PLACES) {
      if (taken.size >= count) break;
      const { lock } = taken.has(place) ? { lock: null } : tryLock(join(FOLDER, `${place}.lock`));
      if (lock !== null) taken.set(place, lock);
    }
    return taken.size >= count;
  };
  await waitFor("the machine", isTaken, { timeoutMs: WAIT_MS, intervalMs: 100 });
}

/** Lets the next one begin. */
export function leaveMachine(): void {
  for (const lock of taken.values()) lock.release();
  taken.clear();
}

/** Waits for something while others may have the machine, and takes it again. */
export async function lendMachine(work: () => Promise<void>): Promise<void> {
  leaveMachine();
  try {
    await work();
  } finally {
    await takeMachine();
  }
}

/** Shorter gaps are no sign of a starved machine. */
const [TICK_MS, LATE_MS] = [20, 100];

export interface LatenessWatch {
  /** Returns for how long in all this process got no turn: on a starved machine a worker's reports are as late. */
  sumBetween(fromMs: number, untilMs: number): number;
  stop(): void;
}

export function watchLateness(): LatenessWatch {
  const gaps: { readonly endMs: number; readonly lateMs: number }[] = [];
  let lastMs = performance.now();
  const timer = setInterval(() => {
    const endMs = performance.now();
    const lateMs = endMs - lastMs - TICK_MS;
    if (lateMs > LATE_MS) gaps.push({ endMs, lateMs });
    lastMs = endMs;
  }, TICK_MS);
  return {
    sumBetween: (fromMs, untilMs) =>
      gaps
        .filter(({ endMs }) => endMs >= fromMs && endMs <= untilMs)
        .reduce((sum, { lateMs }) => sum + lateMs, 0),
    stop: () => clearInterval(timer),
  };
}
