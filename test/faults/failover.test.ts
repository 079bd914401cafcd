/**
 * The whole gateway on Redis deployments of several nodes, whose master dies under load: what was acknowledged and lost,
 * counted, and brought back from the log of requests.
 */
import { afterAll, describe, expect, it } from "vitest";
import { startRedisWithSentinels } from "../support/redis-sentinel.ts";
import { startReplicatedCluster } from "../support/replicated-cluster.ts";
import { runFailover } from "./failover-run.ts";
import { IN_TRANSIT_MS } from "./fault-accounts.ts";
import { type FaultStackOn, startFaultStackOn } from "./fault-stack.ts";
import { restartStack } from "./restart.ts";

/** On each key, while the replica of the master that will die has nothing of it. */
const ANSWERS_BEHIND = 5;

const stacks: FaultStackOn[] = [];
afterAll(async () => {
  await Promise.all(stacks.map((faults) => faults.stop()));
}, 90_000);

const SENTINEL = { name: "Sentinel failover, replica behind", turn: 0 };
const CLUSTER = { name: "Cluster failover", turn: 1 };

describe("charged and used agree", () => {
  it("but for what a master had acknowledged and its replica not, when Sentinel fails over, and the log of requests brings that back", async () => {
    const redis = await startRedisWithSentinels();
    const { sentinels, name } = redis;
    const faults = await startFaultStackOn({
      address: { sentinels, name },
      settings: { sentinels, name },
      stop: () => redis.stop(),
    });
    stacks.push(faults);
    const problems = await runFailover(faults, SENTINEL, async ({ answered }) => {
      redis.replica.freeze();
      const fromMs = performance.now() - IN_TRANSIT_MS;
      await redis.master.command("CLIENT", "KILL", "TYPE", "REPLICA");
      await answered(ANSWERS_BEHIND);
      redis.master.kill();
      const untilMs = performance.now() + IN_TRANSIT_MS;
      redis.replica.thaw();
      await redis.waitForFailover();
      return { unreplicated: { fromMs, untilMs } };
    });
    expect([...problems, ...(await restartStack(faults, { isLogShort: false }))]).toEqual([]);
  });

  it("but for what was on its way to the replica, when a node of a cluster dies and its replica takes over", async () => {
    const redis = await startReplicatedCluster();
    const cluster = redis.urls;
    const faults = await startFaultStackOn({
      address: { cluster },
      settings: { cluster },
      isAffected: (organizationId) => redis.isOnFirst(`igw:{${organizationId}}:organization`),
      stop: () => redis.stop(),
    });
    stacks.push(faults);
    const problems = await runFailover(faults, CLUSTER, async () => {
      const diedMs = performance.now();
      redis.killFirst();
      await redis.waitForFailover();
      return { unreplicated: { fromMs: diedMs - IN_TRANSIT_MS, untilMs: diedMs + IN_TRANSIT_MS } };
    });
    expect([...problems, ...(await restartStack(faults, { isLogShort: false }))]).toEqual([]);
  });
});
