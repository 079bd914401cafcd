import { describe, expect, it } from "vitest";

import { resolveWorkerCount } from "../../../src/shared/config/worker-count.ts";

describe("resolveWorkerCount", () => {
  it.each([
    { workers: "auto", cores: 1, count: 1 },
    { workers: "auto", cores: 2, count: 1 },
    { workers: "auto", cores: 7, count: 3 },
    { workers: 5, cores: 2, count: 5 },
  ] as const)("makes $count of $workers on $cores cores", ({ workers, cores, count }) => {
    expect(resolveWorkerCount(workers, cores)).toBe(count);
  });
});
