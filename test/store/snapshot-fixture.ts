/** What Redis has of an organization, to be put back later: as a snapshot that is restored. */
import type { Cluster, Redis } from "ioredis";
import type { RedisClient } from "../../src/data-path/store/redis/client.ts";

export interface Snapshot {
  /** What has come since is gone; what ends, ends when it would have. */
  restore(): Promise<void>;
}

export async function takeSnapshot(client: RedisClient, organizationId: string): Promise<Snapshot> {
  const list = () => listKeys(client, organizationId);
  const kept = await Promise.all(
    (await list()).map(async (key) => {
      const value = await client.dumpBuffer(key);
      if (value === null) throw new Error(`${key} is gone`);
      return { key, value, ttlMs: Math.max(0, await client.pttl(key)) };
    }),
  );
  return {
    async restore() {
      for (const key of await list()) await client.del(key);
      for (const { key, value, ttlMs } of kept) await client.restore(key, ttlMs, value);
    },
  };
}

/** On whichever node: all of them are on one. */
async function listKeys(client: RedisClient, organizationId: string): Promise<string[]> {
  const nodes: readonly (Redis | Cluster)[] = "nodes" in client ? client.nodes("master") : [client];
  return (await Promise.all(nodes.map((node) => node.keys(`igw:{${organizationId}}:*`)))).flat();
}
