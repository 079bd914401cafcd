/**
 * Who has the machine. Under a load that the machine cannot carry Redis answers late and requests fail without a fault, so
 * files of faults run one at a time, each in its own process: except while one only waits, for what a dead worker left to
 * be closed, which takes a minute in which nothing happens. Then the next one may begin. What else runs meanwhile in
 * `npm test` mostly waits, too (`test/support/waiting-files.ts`).
 */
import { join } from "node:path";
import { tryLock } from "../../src/setup/lock.js";
import { waitFor } from "../support/wait.ts";

const LOCK = join(import.meta.dirname, "../../.cache/faults.lock");
/** Another file is through by then, with its own wait for the machine. */
const WAIT_MS = 500_000;
/** For a hook that starts a stack, and may have to wait for the machine first. */
export const START_TIMEOUT_MS = 600_000;

let lock: ReturnType<typeof tryLock>["lock"] = null;

/** Resolves when this process has the machine; at once when it has it already. */
export async function takeMachine(): Promise<void> {
  await waitFor("the machine", () => (lock ??= tryLock(LOCK).lock) !== null, {
    timeoutMs: WAIT_MS,
    intervalMs: 100,
  });
}

/** Lets the next one begin. */
export function leaveMachine(): void {
  lock?.release();
  lock = null;
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
