import { setTimeout as wait } from "node:timers/promises";
import { onTestFinished } from "vitest";
import { byExtent } from "./extent.ts";

/** Between the calls of a connection. Without a pause, a load that waits for a clock takes both cores. */
const PAUSE_MS = byExtent({ push: 100, nightly: 0 });

/**
 * Calls `send` on each of so many connections, one call after the other, until `stop`, or until the test that began it
 * is over: what fails leaves no load behind for those that come next.
 */
export function runLoad(connections: number, send: () => Promise<void>): { stop: () => Promise<void> } {
  const state = { isOver: false };
  const sendAll = async (): Promise<void> => {
    while (!state.isOver) {
      await send();
      await wait(PAUSE_MS);
    }
  };
  const running = Promise.all(Array.from({ length: connections }, sendAll));
  // `stop` tells it: a stack may be gone before the load of a test that failed.
  running.catch(() => undefined);
  const stop = async (): Promise<void> => {
    state.isOver = true;
    await running;
  };
  onTestFinished(stop);
  return { stop };
}
