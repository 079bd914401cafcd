/** A stack on a Redis whose clock the test sets; only where `canSetClock`. */
import { Redis } from "ioredis";
import { afterAll } from "vitest";
import {
  canSetRedisClock,
  type FakeClock,
  type PrivateRedis,
  startRedisWithClock,
} from "../support/redis.ts";
import type { Stack } from "../support/stack.ts";
import { type ScriptedUpstream, startUpstream } from "../support/upstream.ts";
import { withStack } from "../support/with-stack.ts";
import { METERED_CATALOG } from "./metering-figures.ts";

/** False where tests that set the clock are skipped: their names say what they need. */
export const canSetClock = canSetRedisClock();
export const CLOCK_NEEDS = canSetClock
  ? ""
  : " (skipped: setting Redis's clock takes Linux and a C compiler)";

export interface TimedStack {
  readonly stack: Stack;
  readonly upstream: ScriptedUpstream;
  /** Whether Redis has this key. */
  exists(redisKey: string): Promise<boolean>;
  /** From now on it is this time in Redis, and it stands still. */
  readonly setClock: (iso: string) => void;
}

/** Starts everything for all tests of a `describe`; the fields are there from the first test on. */
export function withTimedStack(startIso: string, workers: number): TimedStack {
  const started: { redis?: PrivateRedis; clock?: FakeClock; upstream?: ScriptedUpstream } = {};
  const getStack = withStack(async () => {
    Object.assign(started, await startRedisWithClock(microseconds(startIso)));
    started.upstream = await startUpstream();
    return {
      upstreams: [{ name: "local", url: started.upstream.url, path_prefix: "/v1" }],
      catalog: METERED_CATALOG,
      workers,
      overrides: { redis: { url: started.redis?.url } },
    };
  });
  let client: Redis | null = null;
  afterAll(async () => {
    client?.disconnect();
    await started.upstream?.close();
    await started.redis?.stop();
  });
  return {
    get stack() {
      return getStack();
    },
    get upstream() {
      if (started.upstream === undefined) throw new Error("used before the stack was started");
      return started.upstream;
    },
    exists: async (redisKey) => {
      client ??= new Redis({ path: new URL(started.redis?.url ?? "").pathname, protocol: 2 });
      return (await client.exists(redisKey)) === 1;
    },
    setClock: (iso) => started.clock?.set(microseconds(iso)),
  };
}

function microseconds(iso: string): bigint {
  return BigInt(Date.parse(iso)) * 1_000n;
}
