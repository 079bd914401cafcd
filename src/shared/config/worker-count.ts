import { availableParallelism } from "node:os";

/** How many workers `sidecar.workers` stands for: `auto` is half the cores, at least one. */
export function resolveWorkerCount(workers: number | "auto", cores: number = availableParallelism()): number {
  return workers === "auto" ? Math.max(1, Math.floor(cores / 2)) : workers;
}
