import { describe, expect, it } from "vitest";
import type { CurvePoint } from "../bench/curves/curve.ts";
import { drawChart } from "../bench/curves/draw-chart.ts";
import { formatSizing } from "../bench/curves/sizing.ts";

const POINT: CurvePoint = {
  label: "32",
  requestsPerSecond: 1_000,
  p50Ms: 1,
  p99Ms: 2,
  cpuMsPerRequest: { sidecar: 0.4, supervisor: 0, envoy: 0.2, redis: 0.1, mock: 0, generator: 0 },
  failures: 0,
};

describe("the sizing of a rate", () => {
  it("uses every core by half, and spreads Redis where one server's core is not enough", () => {
    const rows = formatSizing(POINT)
      .split("\n")
      .map((line) => line.split("|").map((cell) => cell.trim()));
    const rowOf = (rate: string) => rows.find((cells) => cells[1] === rate)?.slice(2, 5);
    expect(rowOf("10")).toEqual(["2", "2", "one server"]);
    expect(rowOf("1,000")).toEqual(["2", "2", "one server"]);
    expect(rowOf("100,000")).toEqual(["80", "40", "cluster of 20 primaries"]);
  });
});

describe("a chart", () => {
  const chart = drawChart({
    title: "A < B & C",
    condition: "workers",
    labels: ["1", "2"],
    panels: [{ title: "req/s", series: [{ name: "gateway", values: [0, 100] }] }],
  });

  it("is XML whatever its texts hold", () => {
    expect(chart).toContain("<title>A &lt; B &amp; C</title>");
    expect(chart).not.toContain("A < B");
  });

  it("draws a point for each value, the larger one higher", () => {
    const heights = [...chart.matchAll(/<circle cx="[\d.]+" cy="([\d.]+)"/gu)].map(([, y]) => Number(y));
    expect(heights).toHaveLength(2);
    expect(heights[1]).toBeLessThan(heights[0] ?? 0);
  });
});
