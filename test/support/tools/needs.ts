/**
 * What a test can need besides the npm packages of the repository: a build of the product, the types of `src` checked, or programs that are
 * found or installed.
 */
export type Need =
  | "build"
  | "types"
  | "redis"
  /** For C: of a clock that is preloaded into Redis, and of programs that measure. */
  | "compiler"
  | "envoy"
  | "node-sdks"
  | "python"
  | "chromium"
  | "shells"
  | "prometheus"
  | "helm";

const STACK: readonly Need[] = ["build", "redis", "envoy"];

/** Beginnings of the paths of tests that set the clock of Redis. */
const CLOCKS = [
  "test/cli/doctor-findings",
  "test/envoy/limits-windows",
  "test/envoy/month",
  "test/envoy/rate-limit-bursts",
  "test/envoy/token-streams",
  "test/store/alert-months",
  "test/store/bucket-model",
  "test/store/buckets",
  "test/store/concurrency-model",
  "test/store/deadlines",
  "test/store/months",
  "test/store/raises",
  "test/store/refusal-alerts",
  "test/store/session-caps",
  "test/store/spend-",
  "test/store/token-limits",
  "test/store/verify-windows",
  "test/store/windows",
];
const COMPILER: readonly Need[] = ["compiler"];

/** What tests need, by the beginning of their path. Every row that fits a file counts. */
export const NEEDS: Readonly<Record<string, readonly Need[]>> = {
  ...Object.fromEntries(CLOCKS.map((start) => [start, COMPILER])),
  "test/unit/": [],
  "test/property/": [],
  "test/store/": ["redis"],
  "test/alerts/": ["redis"],
  "test/admin/": ["redis"],
  "test/envoy/": STACK,
  "test/setup/": STACK,
  "test/setup/bench-": COMPILER,
  "test/cli/": STACK,
  "test/cli/completion.test.ts": ["shells"],
  "test/clients/": [...STACK, "node-sdks"],
  "test/clients/anthropic-python": ["python"],
  "test/clients/clients-page": ["python"],
  "test/clients/embeddings-python": ["python"],
  "test/clients/langchain-python": ["python"],
  "test/clients/native-upstreams": ["python"],
  "test/clients/openai-python": ["python"],
  "test/clients/openapi-": ["python"],
  "test/clients/rate-limit-python": ["python"],
  "test/clients/strict-caps-python": ["python"],
  "test/dashboard/": [...STACK, "chromium"],
  "test/dashboard/snippets.test.ts": ["node-sdks", "python"],
  "test/monitoring/": STACK,
  "test/monitoring/alarms-": ["prometheus"],
  "test/monitoring/alarms-redis": COMPILER,
  "test/monitoring/rules": ["prometheus"],
  "test/packaging/": STACK,
  "test/packaging/chart": ["helm", "prometheus"],
  "test/packaging/documentation": ["helm"],
  "test/packaging/kubernetes": ["helm"],
  "test/packaging/release": ["helm"],
  "test/faults/": [...STACK, "compiler"],
  "test/hostile/": [...STACK, "compiler"],
};

/** What a whole `npm test` needs at once, while the rest is fetched beside its first tests. */
export const FIRST_NEEDS: readonly Need[] = ["redis", "compiler"];

export const ALL_NEEDS: readonly Need[] = [...new Set<Need>(["types", ...Object.values(NEEDS).flat()])];

/** @param files Paths below the repository. */
export function listNeeds(files: readonly string[]): readonly Need[] {
  const rows = Object.entries(NEEDS).filter(([start]) => files.some((file) => file.startsWith(start)));
  return [...new Set(rows.flatMap(([, needs]) => needs))];
}
