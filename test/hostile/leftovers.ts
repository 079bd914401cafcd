/** What an organization has in Redis of requests that are over: nothing, once all of it was settled. */
import { join } from "node:path";
import { Redis } from "ioredis";
import { openRequestsKey, requestKey } from "../../src/data-path/store/redis/keys.ts";
import type { Stack } from "../support/stack.ts";

export interface Leftovers {
  /** Requests that Redis counts as open, with what is held for them. */
  readonly open: number;
  /** Places of concurrent requests that count. What is past its deadline does not, and is swept out now and then. */
  readonly slots: number;
  /** Microcents that are held. */
  readonly held: bigint;
  /** Entries of requests that never went upstream, which go after a minute. */
  readonly entered: number;
}

export function connectRedis({ dir }: Stack): Redis {
  return new Redis({ path: join(dir, "run/redis.sock"), protocol: 2 });
}

/** What Redis holds, without what its allocator keeps. */
export async function readRedisBytes(redis: Redis): Promise<number> {
  return Number(/used_memory:(\d+)/u.exec(await redis.info("memory"))?.[1]);
}

export async function readLeftovers(redis: Redis, organizationId: string): Promise<Leftovers> {
  const entered = await redis.zrange(openRequestsKey(organizationId), "0", "-1");
  const states = await Promise.all(entered.map((id) => redis.hget(requestKey(organizationId, id), "state")));
  const names = await redis.keys(`igw:{${organizationId}}:*`);
  const inflight = names.filter((name) => name.includes(":inflight:"));
  const [seconds] = await redis.time();
  const nowMs = Number(seconds) * 1_000;
  const slots = await Promise.all(inflight.map((name) => redis.zcount(name, nowMs, "+inf")));
  const held = await Promise.all(
    names.filter((name) => name.includes(":spend:")).map((name) => readHeld(redis, name)),
  );
  return {
    open: states.filter((state) => state === "open").length,
    slots: sum(slots),
    held: held.reduce((total, each) => total + each, 0n),
    entered: entered.length,
  };
}

async function readHeld(redis: Redis, name: string): Promise<bigint> {
  const fields = Object.entries(await redis.hgetall(name));
  const held = fields.filter(([field]) => field.startsWith("held:"));
  return held.reduce((total, [, value]) => total + BigInt(value), 0n);
}

function sum(figures: readonly number[]): number {
  return figures.reduce((total, each) => total + each, 0);
}
