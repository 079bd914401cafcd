/**
 * The whole gateway on a Redis Cluster, one of whose masters dies under load: what was acknowledged and lost, counted, and
 * brought back from the request log. Sentinel's failovers: `random-failovers.test.ts`.
 */
import { afterAll, describe, expect, it } from "vitest";
import { startReplicatedCluster } from "../support/replicated-cluster.ts";
import { runFailover } from "./failover-run.ts";
import { IN_TRANSIT_MS } from "./fault-accounts.ts";
import { type FaultStackOn, startFaultStackOn } from "./fault-stack.ts";
import { restartStackAtNight } from "./restart.ts";

let faults: FaultStackOn | null = null;
afterAll(() => faults?.stop(), 90_000);

const CLUSTER = { name: "Cluster failover", turn: 2 };

describe("charged and used agree", () => {
  it("but for what was on its way to the replica, when a node of a cluster dies and its replica takes over", async () => {
    const redis = await startReplicatedCluster();
    const cluster = redis.urls;
    faults = await startFaultStackOn({
      address: { cluster },
      settings: { cluster },
      isAffected: (organizationId) => redis.isOnFirst(`igw:{${organizationId}}:organization`),
      stop: () => redis.stop(),
    });
    const problems = await runFailover(faults, CLUSTER, async () => {
      const diedMs = performance.now();
      redis.killFirst();
      await redis.waitForFailover();
      return { unreplicated: { fromMs: diedMs - IN_TRANSIT_MS, untilMs: diedMs + IN_TRANSIT_MS } };
    });
    expect([...problems, ...(await restartStackAtNight(faults, { isLogShort: false }))]).toEqual([]);
  });
});
