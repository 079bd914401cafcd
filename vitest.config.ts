import { availableParallelism } from "node:os";
import { join } from "node:path";
import { configDefaults, defineConfig } from "vitest/config";
import { generateMessages } from "./src/operation/setup/messages.js";
import { WAIT_DIVISOR_VARIABLE } from "./src/shared/time/internal-waits.ts";
import { coverageFloors, MEASURED_FILES } from "./test/support/coverage-floors.ts";
import { byExtent } from "./test/support/extent.ts";
import { LongestFirst } from "./test/support/longest-first.ts";
import { WAITING_FILES } from "./test/support/waiting-files.ts";

/**
 * What waits for real processes, or lets Redis's own clock run, gets a second try in CI: on a machine whose cores others
 * use too, one may come late once. The closing lines of a run name each test that took it.
 */
const retry = process.env["CI"] === undefined ? 0 : 1;

/**
 * Of projects whose files sit through long internal waits of the product (src/shared/time/internal-waits.ts): each wait is a
 * fifth. `test/envoy/true-waits.test.ts` and the long form of the faults have them as they are.
 */
const QUICK_WAITS = { [WAIT_DIVISOR_VARIABLE]: process.env["FAULTS"] === "long" ? "1" : "5" };

/** Files at a time. */
const maxWorkers = Math.max(2, availableParallelism());
/** Files at a time that wait for servers, too. More of them leave a gateway so little of a core that it times out. */
const maxServerWorkers = maxWorkers * 2;

/** Groups of projects run one after another, the quick ones first; the files of a group share the cores. */
const STORES = 1;
const STACKS = 2;
const WAITING = 3;
const FAULTS = 4;
const HOSTILE = 5;

/** Of the store's files, those that run on a cluster on each push: each script in one of them (shared-cluster.ts). */
const ON_CLUSTER =
  "test/{alerts/{watch,webhooks},store/{api-keys,audit,charge,cluster,deleted-organizations,external-users,key-owners,organization-names,rebuild-usage,sessions,tags,token-limits,usage,usage-sums,windows-counted}}.test.ts";

await generateMessages(import.meta.dirname);

export default defineConfig({
  test: {
    // Of tests that take seconds on a machine of their own: on one that others use, too, only what hangs is given up.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    pool: "forks",
    // A process runs one file after the other: starting it and loading what they share takes longer than most files. No
    // file changes what another sees: nothing is mocked, and what is set (a variable, a clock) is set back.
    isolate: false,
    maxWorkers,
    // Each gateway that a test starts is the same code: Node keeps what it has compiled of it.
    env: { NODE_COMPILE_CACHE: join(import.meta.dirname, "node_modules/.cache/compiled") },
    sequence: { sequencer: LongestFirst },
    reporters: ["default"],
    // The first line of an error, which the closing lines of a run show, says what was found.
    chaiConfig: { truncateThreshold: 300 },
    // What a project has compiled of src is there for the others, and for the next run.
    fsModuleCache: true,
    setupFiles: ["test/support/runner/processor-time.ts"],
    // Off but in the run of the unit and store projects at night, and in a job of its own on each push.
    coverage: {
      provider: "v8",
      include: MEASURED_FILES,
      reporter: ["text-summary"],
      thresholds: coverageFloors(),
    },
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: ["test/unit/**/*.test.ts", "test/property/**/*.test.ts"],
          maxWorkers: maxServerWorkers,
          sequence: { groupOrder: STORES },
        },
      },
      {
        extends: true,
        test: {
          name: "store",
          include: ["test/{store,alerts}/**/*.test.ts"],
          // Models of thousands of steps: what is given up in the middle would go on beside its second try.
          testTimeout: 600_000,
          retry,
          maxWorkers: maxServerWorkers,
          sequence: { groupOrder: STORES },
        },
      },
      {
        extends: true,
        // The same once more on Redis Cluster: three nodes for each process, which are emptied for each file.
        test: {
          name: "cluster",
          include: [byExtent({ push: ON_CLUSTER, nightly: "test/{store,alerts}/**/*.test.ts" })],
          // What they need of Redis is theirs alone: a server that breaks, a failover, none.
          exclude: [
            "test/store/{client,open-store,script-calls}.test.ts",
            "test/store/failover-*.test.ts",
            "test/alerts/{delivery-redis,documentation,mail,post-webhook}.test.ts",
            // Models of one organization's buckets and spend, which are in one slot: what the scripts compute there
            // cannot differ, and each script runs on the cluster in the other files.
            "test/store/{bucket-model,bucket-exactness,spend-model,spend-owners,windows-model}.test.ts",
          ],
          env: { STORE_TESTS_ON: "cluster" },
          globalSetup: "test/support/shared-cluster.ts",
          retry,
          maxWorkers: maxServerWorkers,
          sequence: { groupOrder: STORES },
        },
      },
      {
        extends: true,
        test: {
          name: "admin",
          include: ["test/admin/**/*.test.ts"],
          retry,
          maxWorkers: maxServerWorkers,
          sequence: { groupOrder: STORES },
        },
      },
      {
        extends: true,
        test: {
          name: "system",
          include: ["test/{envoy,clients,cli,setup,monitoring}/**/*.test.ts"],
          // test/clients has packages of its own, some with their tests.
          exclude: [...configDefaults.exclude, ...WAITING_FILES],
          retry,
          maxWorkers: maxServerWorkers,
          sequence: { groupOrder: STACKS },
        },
      },
      {
        extends: true,
        test: {
          name: "dashboard",
          include: ["test/dashboard/**/*.test.ts"],
          retry,
          maxWorkers: maxServerWorkers,
          sequence: { groupOrder: STACKS },
        },
      },
      {
        extends: true,
        test: {
          name: "packaging",
          include: ["test/packaging/**/*.test.ts"],
          retry,
          maxWorkers: maxServerWorkers,
          sequence: { groupOrder: STACKS },
        },
      },
      {
        extends: true,
        // Beside `faults` in `npm test`, whose load leaves room for files that hardly compute.
        test: {
          name: "waiting",
          env: QUICK_WAITS,
          include: WAITING_FILES,
          retry,
          maxWorkers: maxServerWorkers,
          sequence: { groupOrder: WAITING },
        },
      },
      {
        extends: true,
        test: {
          name: "faults",
          env: QUICK_WAITS,
          include: ["test/faults/**/*.test.ts"],
          testTimeout: 600_000,
          // No second try: what is claimed here is that it holds each time.
          // Two loads at a time (test/faults/machine.ts): another file begins where those before it only wait.
          maxWorkers: 4,
          sequence: { groupOrder: FAULTS },
        },
      },
      {
        extends: true,
        test: {
          name: "hostile",
          env: QUICK_WAITS,
          include: ["test/hostile/**/*.test.ts"],
          testTimeout: 600_000,
          isolate: true,
          // No second try, and nothing beside it: an answer that fails, or comes late, is to be the attacks' doing.
          maxWorkers: 1,
          sequence: { groupOrder: HOSTILE },
        },
      },
    ],
  },
});
