import type { AdminAppOptions } from "./app-options.ts";

/** Whether the workers and Redis are there. Never rejects. */
export function isReady({
  store,
  areWorkersReady = () => true,
}: Pick<AdminAppOptions, "store" | "areWorkersReady">): Promise<boolean> {
  return Promise.all([store.timeMs(), areWorkersReady()]).then(
    ([, areReady]) => areReady,
    () => false,
  );
}
