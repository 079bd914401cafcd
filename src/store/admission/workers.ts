/** The workers that there are, over all hosts. */
import type { StoreContext } from "../context.ts";
import { WORKERS_KEY } from "../redis/keys.ts";
import { formatCount } from "../redis/parse-reply.ts";

/** Begins what releases announce that move the counters of windows (`windows.ts`); older ones announce their id alone. */
const MOVES_WINDOWS = "windows ";

export function isAnnouncedOfThisRelease(worker: string): boolean {
  return worker.startsWith(MOVES_WINDOWS);
}

/** @see AdmissionStore.announceWorker */
export async function announceWorker(
  { client }: StoreContext,
  workerId: string,
  countsForMs: number,
): Promise<number> {
  const count = await client.igwAnnounce(WORKERS_KEY, MOVES_WINDOWS + workerId, formatCount(countsForMs));
  if (typeof count !== "number") throw new TypeError(`announce replied ${typeof count}, not a number`);
  return count;
}
