import type { AdminAppOptions } from "./app-options.ts";

/** Whether the workers and Redis are there. Never rejects. */
export async function isReady({
  store,
  areWorkersReady = () => true,
}: Pick<AdminAppOptions, "store" | "areWorkersReady">): Promise<boolean> {
  const areThere = await Promise.all([store.timeMs(), areWorkersReady()]).then(
    ([, areReady]) => areReady,
    () => false,
  );
  return areThere;
}
