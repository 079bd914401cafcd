/** Global set-up of the project `cluster`: one cluster of three nodes for all of its files, which run one by one. */
import type { TestProject } from "vitest/node";
import { startRedisCluster } from "./redis.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** URLs of the nodes. */
    redisCluster: readonly string[];
  }
}

let cluster: Awaited<ReturnType<typeof startRedisCluster>> | null = null;

export async function setup(project: TestProject): Promise<void> {
  cluster = await startRedisCluster();
  project.provide("redisCluster", cluster.urls);
}

export async function teardown(): Promise<void> {
  await cluster?.stop();
}
