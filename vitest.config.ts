import { defineConfig } from "vitest/config";

/** Whole stacks wait for real processes: on a machine whose cores others use too, one may come late once. */
const retry = process.env["CI"] === undefined ? 0 : 1;

/** Projects run one after another, the quick ones first, so that stacks do not take each other's cores. */
export default defineConfig({
  test: {
    testTimeout: 30_000,
    hookTimeout: 60_000,
    pool: "forks",
    reporters: ["default"],
    projects: [
      {
        extends: true,
        test: { name: "unit", include: ["test/unit/**/*.test.ts", "test/property/**/*.test.ts"] },
      },
      {
        extends: true,
        test: { name: "store", include: ["test/{store,alerts}/**/*.test.ts"], sequence: { groupOrder: 1 } },
      },
      {
        extends: true,
        // The same once more on Redis Cluster: one of three nodes for all files, which it is emptied for one by one.
        test: {
          name: "cluster",
          include: ["test/{store,alerts}/**/*.test.ts"],
          // What they need of Redis is theirs alone: a server that breaks, a failover, none.
          exclude: [
            "test/store/{client,open-store,scripts}.test.ts",
            "test/store/failover-*.test.ts",
            "test/alerts/{delivery-redis,documentation,mail,post-webhook}.test.ts",
          ],
          env: { STORE_TESTS_ON: "cluster" },
          globalSetup: "test/support/shared-cluster.ts",
          fileParallelism: false,
          sequence: { groupOrder: 2 },
        },
      },
      {
        extends: true,
        test: { name: "admin", include: ["test/admin/**/*.test.ts"], sequence: { groupOrder: 3 } },
      },
      {
        extends: true,
        test: {
          name: "faults",
          include: ["test/faults/**/*.test.ts"],
          testTimeout: 600_000,
          // No second try: what is claimed here is that it holds each time.
          // They wait far more than they compute, the longest for a minute until requests of the dead are closed.
          maxWorkers: 2,
          // By themselves, after all others: bounds are in seconds.
          sequence: { groupOrder: 9 },
        },
      },
      {
        extends: true,
        test: {
          name: "dashboard",
          include: ["test/dashboard/**/*.test.ts"],
          testTimeout: 120_000,
          retry,
          fileParallelism: false,
          sequence: { groupOrder: 5 },
        },
      },
      {
        extends: true,
        test: {
          name: "packaging",
          include: ["test/packaging/**/*.test.ts"],
          testTimeout: 120_000,
          retry,
          fileParallelism: false,
          sequence: { groupOrder: 6 },
        },
      },
      {
        extends: true,
        test: {
          name: "system",
          include: ["test/{envoy,clients,cli,setup,monitoring}/**/*.test.ts"],
          testTimeout: 120_000,
          retry,
          fileParallelism: false,
          sequence: { groupOrder: 4 },
        },
      },
    ],
  },
});
