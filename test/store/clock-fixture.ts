/** A store on a Redis whose clock the test sets. */
import { canSetRedisClock, type FakeClock, startRedisWithClock } from "../support/redis.ts";
import { connectStore, IS_ON_CLUSTER, type StoreUnderTest } from "./fixture.ts";

export interface TimedStore extends StoreUnderTest {
  readonly clock: FakeClock;
}

/** False where tests that set the clock are skipped: their names say what they need. */
export const canSetClock = canSetRedisClock();

/** Unix microseconds of an ISO time. */
export function microseconds(iso: string): bigint {
  return BigInt(Date.parse(iso)) * 1000n;
}

/** @throws Error when `canSetClock` is false. */
export async function openTimedStore(start: bigint): Promise<TimedStore> {
  const { redis, clock } = await startRedisWithClock(start, IS_ON_CLUSTER);
  const address = IS_ON_CLUSTER ? { cluster: [redis.url] } : { url: redis.url };
  const opened = await connectStore(address, () => redis.stop());
  return { ...opened, clock };
}
