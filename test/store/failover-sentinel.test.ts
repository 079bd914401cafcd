import { setTimeout as wait } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { createRedisClient, waitUntilReady } from "../../src/store/redis/client.ts";
import { createStore } from "../../src/store/redis-store.ts";
import type { ChargeInput } from "../../src/store/types/settlement.ts";
import { type SentinelRedis, startRedisWithSentinels } from "../support/redis-sentinel.ts";
import { chargeInput, createIdentity, createTestKey, FINAL, holdInput, USAGE_MONTHS } from "./fixture.ts";

let redis: SentinelRedis | null = null;
const clients: { disconnect(): void }[] = [];
afterEach(async () => {
  for (const client of clients.splice(0)) client.disconnect();
  await redis?.stop();
  redis = null;
}, 60_000);

const WRITERS = 8;
const COST = 1_000n;

/** As a worker is connected: a command without an answer fails after 250 ms and is sent once. */
async function connectWorker({ sentinels, name }: SentinelRedis) {
  const client = createRedisClient({ sentinels, name, onError: () => undefined });
  clients.push(client);
  await waitUntilReady(client, 10_000);
  return createStore({ client, usageMonths: USAGE_MONTHS });
}

/**
 * Requests of one key, one after the other on each of eight writers: hold, then the final charge until it is
 * acknowledged. Remembers when each charge was.
 */
async function startLoad(sentinel: SentinelRedis) {
  const store = await connectWorker(sentinel);
  const key = await createTestKey(store);
  const acknowledged: { readonly charge: ChargeInput; readonly atMs: number }[] = [];
  const state = { isStopped: false };
  let failures = 0;
  const write = async (): Promise<void> => {
    while (!state.isStopped) {
      const identity = await again(() => createIdentity(store, key));
      await again(() => store.hold(holdInput(identity)));
      const charge = chargeInput(identity, 1, COST, { final: FINAL });
      await again(() => store.charge(charge));
      acknowledged.push({ charge, atMs: performance.now() });
      await wait(1);
    }
  };
  const again = async <Value>(run: () => Promise<Value>): Promise<Value> => {
    for (;;) {
      try {
        return await run();
      } catch {
        failures += 1;
        await wait(50);
      }
    }
  };
  const running = Array.from({ length: WRITERS }, write);
  return {
    key,
    acknowledged,
    countFailures: () => failures,
    async stop() {
      state.isStopped = true;
      await Promise.all(running);
    },
  };
}

async function readSpent(sentinel: SentinelRedis, organizationId: string): Promise<bigint> {
  const store = await connectWorker(sentinel);
  return (await store.readSpend(organizationId, null)).organizationMicrocents;
}

const report = (text: string): void => void process.stdout.write(`${text}\n`);

describe("a failover by Sentinel under load", () => {
  it("loses only what the replica had not had yet, and a charge that is sent again brings it back once", async () => {
    redis = await startRedisWithSentinels();
    const load = await startLoad(redis);
    await wait(500);
    // What is acknowledged from here on exists on the master alone. Cut off, since what a socket holds still arrives.
    redis.replica.freeze();
    const behindMs = performance.now();
    await redis.master.command("CLIENT", "KILL", "TYPE", "REPLICA");
    await wait(400);
    redis.master.kill();
    redis.replica.thaw();
    await redis.waitForFailover();
    const failedOverMs = performance.now();
    await wait(1_500);
    await load.stop();

    const charged = BigInt(load.acknowledged.length) * COST;
    const spent = await readSpent(redis, load.key.organizationId);
    const lost = charged - spent;
    const atRisk = load.acknowledged.filter(({ atMs }) => atMs >= behindMs && atMs < failedOverMs).length;
    report(
      `failover | acknowledged ${load.acknowledged.length} | failed attempts ${load.countFailures()} | ` +
        `acknowledged while the replica was behind ${atRisk} | lost ${lost / COST}`,
    );
    expect(lost).toBeGreaterThan(0n);
    expect(lost).toBeLessThanOrEqual(BigInt(atRisk) * COST);

    // Every charge once more, as they stand in the spool or the log of requests: those that are there count nothing.
    const store = await connectWorker(redis);
    for (const { charge } of load.acknowledged) await store.charge(charge);
    expect(await readSpent(redis, load.key.organizationId)).toBe(charged);
  }, 120_000);

  it("loses nothing while the replica keeps up: what is on its way is not acknowledged and is sent again", async () => {
    redis = await startRedisWithSentinels();
    const load = await startLoad(redis);
    await wait(500);
    // Stops taking writes first, as an orderly failover does; then everything acknowledged is on the replica.
    await redis.master.command("CLIENT", "PAUSE", "500", "WRITE");
    await wait(200);
    redis.master.kill();
    await redis.waitForFailover();
    await wait(1_000);
    await load.stop();
    const charged = BigInt(load.acknowledged.length) * COST;
    const spent = await readSpent(redis, load.key.organizationId);
    report(
      `orderly failover | acknowledged ${load.acknowledged.length} | ` +
        `failed attempts ${load.countFailures()} | lost ${(charged - spent) / COST}`,
    );
    expect(spent).toBe(charged);
  }, 120_000);

  it("with min-replicas-to-write a master that is cut off from its replica takes no more writes", async () => {
    redis = await startRedisWithSentinels(["--min-replicas-to-write", "1", "--min-replicas-max-lag", "1"]);
    const store = await connectWorker(redis);
    const key = await createTestKey(store);
    const identity = await createIdentity(store, key);
    await store.hold(holdInput(identity));
    redis.replica.freeze();
    await expect(
      (async () => {
        for (let sequence = 1; sequence < 200; sequence += 1) {
          await store.charge(chargeInput(identity, sequence, COST));
          await wait(50);
        }
      })(),
    ).rejects.toThrow("NOREPLICAS");
    redis.replica.thaw();
  }, 60_000);
});
