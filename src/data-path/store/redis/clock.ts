/** Redis's clock, for decisions outside of scripts. */
import type { StoreContext } from "../context.ts";

/** Returns Unix milliseconds. */
export async function timeMs({ client }: Pick<StoreContext, "client">): Promise<number> {
  const [seconds, microseconds] = await client.time();
  return Number(seconds) * 1000 + Math.floor(Number(microseconds) / 1000);
}
