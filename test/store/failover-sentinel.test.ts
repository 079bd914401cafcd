import { afterEach, describe, expect, it } from "vitest";
import { createRedisClient, waitUntilReady } from "../../src/data-path/store/redis/client.ts";
import { createStore } from "../../src/data-path/store/redis-store.ts";
import type { ChargeInput } from "../../src/shared/stored/settlement.ts";
import { type SentinelNode, type SentinelRedis, startRedisWithSentinels } from "../support/redis-sentinel.ts";
import { waitFor } from "../support/wait.ts";
import {
  chargeInput,
  createIdentity,
  createTestKey,
  FINAL,
  openRecordInput,
  USAGE_MONTHS,
} from "./fixture.ts";

let redis: SentinelRedis | null = null;
const clients: { disconnect(): void }[] = [];
afterEach(async () => {
  for (const client of clients.splice(0)) client.disconnect();
  await redis?.stop();
  redis = null;
}, 60_000);

const WRITERS = 8;
const COST = 1_000n;
/** Charges: enough that every writer has had more than one. */
const SOME = 10 * WRITERS;
/** Sentinels that find no heir, or split their votes, try again after ten seconds: some times on a slow machine. */
const FAILOVER_MS = 300_000;

/** As a worker is connected: a command without an answer fails after 250 ms and is sent once. */
async function connectWorker({ sentinels, name }: SentinelRedis) {
  const client = createRedisClient({ sentinels, name, onError: () => undefined });
  clients.push(client);
  await waitUntilReady(client, 60_000);
  return createStore({ client, usageMonths: USAGE_MONTHS });
}

/**
 * Requests of one key, one after the other on each of eight writers: a record, then the final charge until it is
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
      await again(() => store.openRecord(openRecordInput(identity)));
      const charge = chargeInput(identity, 1, COST, { final: FINAL });
      await again(() => store.charge(charge));
      acknowledged.push({ charge, atMs: performance.now() });
    }
  };
  const again = async <Value>(run: () => Promise<Value>): Promise<Value> => {
    const attempt = async (): Promise<{ value: Value }> => {
      try {
        return { value: await run() };
      } catch (error) {
        failures += 1;
        throw error;
      }
    };
    return (await waitFor("an acknowledgement", attempt, { timeoutMs: FAILOVER_MS, intervalMs: 50 })).value;
  };
  const running = Array.from({ length: WRITERS }, write);
  return {
    key,
    acknowledged,
    countFailures: () => failures,
    /** Resolves when so many more charges are acknowledged. */
    async acknowledge(count: number) {
      const target = acknowledged.length + count;
      await waitFor(`${count} charges`, () => acknowledged.length >= target, { timeoutMs: FAILOVER_MS });
    },
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

/** How far the node's stream of writes has come. */
async function readOffset(node: SentinelNode): Promise<number> {
  const text = String(await node.command("INFO", "replication"));
  return Number(/^(?:slave_repl_offset|master_repl_offset):(\d+)/mu.exec(text)?.[1]);
}

const report = (text: string): void => void process.stdout.write(`${text}\n`);

describe("a failover by Sentinel under load", () => {
  it("loses only what the replica had not had yet, and a charge that is sent again brings it back once", async () => {
    redis = await startRedisWithSentinels();
    const { master, replica } = redis;
    const load = await startLoad(redis);
    await load.acknowledge(SOME);
    const behindMs = performance.now();
    const offset = await readOffset(master);
    await waitFor("the replica to have all from before", async () => (await readOffset(replica)) >= offset);
    // What is acknowledged from here on exists on the master alone. Cut off, since what a socket holds still arrives.
    replica.freeze();
    await master.command("CLIENT", "KILL", "TYPE", "REPLICA");
    await load.acknowledge(SOME);
    master.kill();
    replica.thaw();
    await redis.waitForFailover();
    const failedOverMs = performance.now();
    await load.acknowledge(SOME);
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

    // Every charge once more, as they stand in the spool or the request log: those that are there count nothing.
    const store = await connectWorker(redis);
    for (const { charge } of load.acknowledged) await store.charge(charge);
    expect(await readSpent(redis, load.key.organizationId)).toBe(charged);
  });

  it("loses nothing while the replica keeps up: what is on its way is not acknowledged and is sent again", async () => {
    redis = await startRedisWithSentinels();
    const load = await startLoad(redis);
    await load.acknowledge(SOME);
    // Stops taking writes first, as an orderly failover does; then everything acknowledged is on the replica.
    const { master, replica } = redis;
    await master.command("CLIENT", "PAUSE", "60000", "WRITE");
    const isLevel = async () => (await readOffset(master)) === (await readOffset(replica));
    await waitFor("the replica to have everything", isLevel);
    master.kill();
    await redis.waitForFailover();
    await load.acknowledge(SOME);
    await load.stop();
    const charged = BigInt(load.acknowledged.length) * COST;
    const spent = await readSpent(redis, load.key.organizationId);
    report(
      `orderly failover | acknowledged ${load.acknowledged.length} | ` +
        `failed attempts ${load.countFailures()} | lost ${(charged - spent) / COST}`,
    );
    expect(spent).toBe(charged);
  });

  it("with min-replicas-to-write a master that is cut off from its replica takes no more writes", async () => {
    redis = await startRedisWithSentinels();
    const { master, replica } = redis;
    const store = await connectWorker(redis);
    const key = await createTestKey(store);
    const identity = await createIdentity(store, key);
    await store.openRecord(openRecordInput(identity));
    // Not from the start: a replica that gets no turn for a second is as good as cut off.
    await master.command("CONFIG", "SET", "min-replicas-max-lag", "1");
    await master.command("CONFIG", "SET", "min-replicas-to-write", "1");
    replica.freeze();
    let sequence = 0;
    let refusal = "";
    await waitFor("a refusal", async () => {
      const charge = chargeInput(identity, (sequence += 1), COST);
      refusal = await store.charge(charge).then(() => "", String);
      return refusal.includes("NOREPLICAS");
    });
    expect(refusal).toContain("NOREPLICAS");
    replica.thaw();
  });
});
