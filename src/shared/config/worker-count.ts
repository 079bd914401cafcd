import { availableParallelism } from "node:os";

/** Returns the number of workers for `sidecar.workers`: `auto` is half the cores, at least one. */
export function resolveWorkerCount(workers: number | "auto", cores: number = availableParallelism()): number {
  return workers === "auto" ? Math.max(1, Math.floor(cores / 2)) : workers;
}
