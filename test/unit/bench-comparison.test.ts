import { describe, expect, it } from "vitest";
import { formatComparison } from "../bench/compare.ts";
import type { Report, ReportRow } from "../bench/report.ts";

const NOTHING = { sidecar: 0, supervisor: 0, envoy: 0, redis: 0, mock: 0, generator: 0 };
const ROW: ReportRow = {
  workload: "1k",
  connections: 32,
  mockRequestsPerSecond: 50_000,
  plainRequestsPerSecond: 10_000,
  gatewayRequestsPerSecond: 1_000,
  spread: 0.05,
  ratio: 0.1,
  noopRatio: null,
  target: 0.95,
  plainP50Ms: 1,
  gatewayP50Ms: 10,
  gatewayP99Ms: 20,
  cpuMsPerRequest: { ...NOTHING, sidecar: 0.5, envoy: 0.3, redis: 0.1 },
  plainEnvoyCpuMsPerRequest: 0.07,
  noop: null,
  sidecarMicrosecondsPerEvent: null,
  requests: 1_000,
  failures: 0,
};

function reportOf(changes: Partial<ReportRow>, cores = 2): Report {
  return {
    date: "2026-11-22",
    machine: { cpu: "x", cores, memoryGigabytes: 8, node: "v20", envoy: "1.40.0", redis: "7.0.15" },
    options: {},
    rows: [{ ...ROW, ...changes }],
    heldStreams: null,
    memoryMegabytes: NOTHING,
  };
}

describe("the comparison of two benchmarks", () => {
  it("tells a change from what the rounds of a run differ by", () => {
    const lines = formatComparison(
      reportOf({}),
      reportOf({ gatewayRequestsPerSecond: 1_200, gatewayP50Ms: 10.2 }),
    );
    expect(lines).toContain("1k req/s: 1000 → 1200 (+20 %)");
    expect(lines).toContain("1k p50 ms: 10.0 → 10.2 (+2 %, within the spread)");
  });

  it("says when the machines differ, and leaves out what only one of the runs has", () => {
    expect(formatComparison(reportOf({}), reportOf({ workload: "stream" }, 4))).toBe(
      "Not the same machine: only ratios can be compared.",
    );
  });
});
