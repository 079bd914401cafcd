/** A Redis Cluster of three masters with a replica each: what the loss of one node is like. */
import { startRedisCluster } from "./redis.ts";
import { callRedis } from "./redis-sentinel.ts";
import { waitFor } from "./wait.ts";

export interface ReplicatedCluster {
  readonly urls: readonly string[];
  /** Whether a key is on the first master, the one that `kill` ends. */
  isOnFirst(key: string): Promise<boolean>;
  /** SIGKILL for the first master. */
  killFirst(): void;
  /** Resolves when the cluster has made its replica the master. */
  waitForFailover(): Promise<void>;
  stop(): Promise<void>;
}

const SETTINGS = [
  "--appendonly",
  "yes",
  "--repl-diskless-sync-delay",
  "0",
  "--cluster-replica-validity-factor",
  "0",
];

export async function startReplicatedCluster(): Promise<ReplicatedCluster> {
  const cluster = await startRedisCluster(SETTINGS);
  try {
    const replicas: number[] = [];
    for (const { port } of cluster.nodes) {
      const replica = await cluster.addNode(SETTINGS);
      await callRedis(replica.port, "CLUSTER", "MEET", "127.0.0.1", String(port));
      replicas.push(replica.port);
    }
    for (const [index, replica] of replicas.entries()) {
      const master = String(await callRedis(cluster.nodes[index]?.port ?? 0, "CLUSTER", "MYID"));
      await waitFor("the replica to know its master", async () =>
        callRedis(replica, "CLUSTER", "REPLICATE", master).then(
          () => true,
          () => false,
        ),
      );
    }
    await waitFor("the replicas to follow, and all nodes to know it", async () => {
      for (const port of replicas) {
        const info = String(await callRedis(port, "INFO", "replication"));
        if (!info.includes("master_link_status:up")) return false;
      }
      for (const port of [...replicas, ...cluster.nodes.map((node) => node.port)]) {
        const nodes = String(await callRedis(port, "CLUSTER", "NODES"));
        const state = String(await callRedis(port, "CLUSTER", "INFO"));
        if (nodes.split("slave ").length !== 4 || !state.includes("cluster_state:ok")) return false;
      }
      return true;
    });
    const [first] = cluster.nodes;
    const [heir] = replicas;
    if (first === undefined || heir === undefined) throw new Error("there is no first node");
    return {
      urls: cluster.urls,
      async isOnFirst(key) {
        const slot = Number(await callRedis(heir, "CLUSTER", "KEYSLOT", key));
        return slot < Math.ceil(16_384 / cluster.nodes.length);
      },
      killFirst: () => first.child.signal("SIGKILL"),
      waitForFailover: () =>
        waitFor(
          "the replica to become the master",
          async () => String(await callRedis(heir, "ROLE")).startsWith("master"),
          { timeoutMs: 30_000, intervalMs: 50 },
        ).then(() => undefined),
      stop: () => cluster.stop(),
    };
  } catch (error) {
    await cluster.stop();
    throw error;
  }
}
