/**
 * Global set-up of the project `cluster`: a cluster of three nodes for each process that runs files of it. On each push that
 * is a part of the store's files: at the end of it, each script must have run on a cluster.
 */
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { SCRIPTS } from "../../src/data-path/store/redis/script-layouts.ts";
import { type RedisCluster, startRedisCluster } from "./redis.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** URLs of the nodes, of one cluster after the other. */
    redisClusters: readonly (readonly string[])[];
    /** The file that names the scripts that have run on a cluster, one a line. */
    clusterScripts: string;
  }
}

let clusters: readonly RedisCluster[] = [];
let folder = "";
let ofProject: TestProject | null = null;

export async function setup(project: TestProject): Promise<void> {
  ofProject = project;
  folder = mkdtempSync(join(tmpdir(), "igw-scripts-"));
  const scripts = join(folder, "run");
  appendFileSync(scripts, "");
  project.provide("clusterScripts", scripts);
  const count = project.config.maxWorkers;
  clusters = await Promise.all(Array.from({ length: count }, () => startRedisCluster()));
  project.provide(
    "redisClusters",
    clusters.map(({ urls }) => urls),
  );
}

/** @throws Error, which fails the run, when all files passed and a script ran in none of them. */
export async function teardown(): Promise<void> {
  await Promise.all(clusters.map((cluster) => cluster.stop()));
  const run = new Set(readFileSync(join(folder, "run"), "utf8").split("\n"));
  rmSync(folder, { recursive: true });
  const missing = Object.keys(SCRIPTS).filter((name) => !run.has(name));
  if (missing.length === 0 || ofProject === null || !(await hasPassed(ofProject))) return;
  // vitest shows what is thrown here, and would end as if nothing were.
  process.exitCode = 1;
  throw new Error(
    `No file of the project \`cluster\` runs ${missing.join(", ")}: add one that does to ON_CLUSTER of vitest.config.ts.`,
  );
}

/** The run was of all files, not of some that a person asked for, and all of them passed. */
async function hasPassed(project: TestProject): Promise<boolean> {
  const { testFiles } = await project.globTestFiles();
  const passed = project.vitest.state
    .getTestModules()
    .filter((module) => module.project.name === project.name && module.state() === "passed");
  return project.vitest.config.testNamePattern === undefined && passed.length === testFiles.length;
}
