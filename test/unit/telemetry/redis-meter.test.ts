import { describe, expect, it } from "vitest";
import { createMetrics } from "../../../src/shared/telemetry/metrics.ts";
import { RedisMeter } from "../../../src/shared/telemetry/gateway-telemetry.ts";

async function values(metric: { get(): Promise<{ values: object[] }> }, name: string): Promise<unknown> {
  const { values: all } = await metric.get();
  return all.filter((value) => JSON.stringify(value).includes(`"${name}"`));
}

describe("RedisMeter", () => {
  it("times operations of the path and counts those that failed, from 0 on", async () => {
    const metrics = createMetrics();
    const meter = new RedisMeter(metrics);
    expect(await values(metrics.redisErrors, "charge")).toMatchObject([{ value: 0 }]);
    meter.ended("charge", 2, false);
    meter.ended("charge", 4, true);
    expect(await values(metrics.redisErrors, "charge")).toMatchObject([{ value: 1 }]);
    expect(await values(metrics.redisLatency, "charge")).toContainEqual(
      expect.objectContaining({
        metricName: "inference_gateway_redis_operation_duration_seconds_count",
        value: 2,
      }),
    );
  });

  it("leaves out operations that read whole lists", async () => {
    const metrics = createMetrics();
    new RedisMeter(metrics).ended("listKeys", 900, true);
    expect(await values(metrics.redisErrors, "listKeys")).toEqual([]);
    expect(await values(metrics.redisLatency, "listKeys")).toEqual([]);
  });
});
