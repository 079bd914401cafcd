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
        // Once more, on a cluster of three nodes: what money and limits rest on.
        test: {
          name: "cluster",
          include: ["test/store/{admit,hold,charge,usage}.test.ts"],
          env: { STORE_TESTS_ON: "cluster" },
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
          retry,
          fileParallelism: false,
          // By itself, after all others: bounds are in seconds.
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
