/** Register of the running workers on all hosts. */
import type { StoreContext } from "../context.ts";
import { WORKERS_KEY } from "../redis/keys.ts";
import { formatCount } from "../redis/parse-reply.ts";

/** @see AdmissionStore.announceWorker */
export async function announceWorker(
  { client }: StoreContext,
  workerId: string,
  countsForMs: number,
): Promise<number> {
  const count = await client.igwAnnounce({
    workers: WORKERS_KEY,
    worker: workerId,
    countsForMs: formatCount(countsForMs),
  });
  if (typeof count !== "number") throw new TypeError(`announce replied ${typeof count}, not a number`);
  return count;
}
