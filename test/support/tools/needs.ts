/**
 * What a test can need besides the npm packages of the repository: a build of the product, the types of `src` checked, or programs that are
 * found or installed.
 */
export type Need =
  | "build"
  | "types"
  | "redis"
  | "envoy"
  | "node-sdks"
  | "python"
  | "chromium"
  | "shells"
  | "prometheus"
  | "helm";

const STACK: readonly Need[] = ["build", "redis", "envoy"];

/** What tests need, by the beginning of their path. Every row that fits a file counts. */
export const NEEDS: Readonly<Record<string, readonly Need[]>> = {
  "test/unit/": [],
  "test/property/": [],
  "test/store/": ["redis"],
  "test/alerts/": ["redis"],
  "test/admin/": ["redis"],
  "test/envoy/": STACK,
  "test/setup/": STACK,
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
  "test/monitoring/": [...STACK, "prometheus"],
  "test/packaging/": [...STACK, "helm"],
  "test/packaging/chart.test.ts": ["prometheus"],
  "test/faults/": STACK,
  "test/hostile/": STACK,
};

/** What a whole `npm test` needs at once, while the rest is fetched beside its first tests. */
export const FIRST_NEEDS: readonly Need[] = ["redis"];

export const ALL_NEEDS: readonly Need[] = [...new Set<Need>(["types", ...Object.values(NEEDS).flat()])];

/** @param files Paths below the repository. */
export function listNeeds(files: readonly string[]): readonly Need[] {
  const rows = Object.entries(NEEDS).filter(([start]) => files.some((file) => file.startsWith(start)));
  return [...new Set(rows.flatMap(([, needs]) => needs))];
}
