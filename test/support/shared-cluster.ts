/** Global set-up of the project `cluster`: a cluster of three nodes for each process that runs files of it. */
import type { TestProject } from "vitest/node";
import { type RedisCluster, startRedisCluster } from "./redis.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** URLs of the nodes, of one cluster after the other. */
    redisClusters: readonly (readonly string[])[];
  }
}

let clusters: readonly RedisCluster[] = [];

export async function setup(project: TestProject): Promise<void> {
  const count = project.config.maxWorkers;
  clusters = await Promise.all(Array.from({ length: count }, () => startRedisCluster()));
  project.provide(
    "redisClusters",
    clusters.map(({ urls }) => urls),
  );
}

export async function teardown(): Promise<void> {
  await Promise.all(clusters.map((cluster) => cluster.stop()));
}
