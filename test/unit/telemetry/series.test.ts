import { Counter, Histogram, Registry } from "prom-client";
import { describe, expect, it } from "vitest";
import { SeriesCounter, SeriesHistogram } from "../../../src/shared/telemetry/series.ts";

const BUCKETS = [0.1, 1, 10];
const VALUES = [0, 0.1, 0.5, 1, 9.99, 10, 11, 1000];

function pageOf(add: (registry: Registry) => void): Promise<string> {
  const registry = new Registry();
  add(registry);
  return registry.metrics();
}

describe("SeriesHistogram", () => {
  const options = { name: "a", help: "b", buckets: BUCKETS };

  it("is told as prom-client tells a histogram, with labels and without", async () => {
    for (const labels of [{}, { model: "acme/a", kind: "x" }]) {
      const labelNames = Object.keys(labels);
      const ours = await pageOf((registry) => {
        const series = new SeriesHistogram({ ...options, labelNames, registry }).series(labels);
        for (const value of VALUES) series.observe(value);
      });
      const theirs = await pageOf((registry) => {
        const histogram = new Histogram({ ...options, labelNames, registers: [registry] });
        for (const value of VALUES) histogram.observe(labels, value);
      });
      expect(ours).toBe(theirs);
    }
  });

  it("shows what has no labels from the beginning, and labels from their first value on, as prom-client does", async () => {
    for (const labelNames of [[], ["model"]]) {
      const ours = await pageOf((registry) => {
        const histogram = new SeriesHistogram({ ...options, labelNames, registry });
        if (labelNames.length > 0) histogram.series({ model: "acme/a" });
      });
      const theirs = await pageOf(
        (registry) => void new Histogram({ ...options, labelNames, registers: [registry] }),
      );
      expect(ours).toBe(theirs);
    }
  });

  it("counts in one place what is asked for twice", async () => {
    const page = await pageOf((registry) => {
      const histogram = new SeriesHistogram({ ...options, labelNames: ["model"], registry });
      histogram.series({ model: "acme/a" }).observe(1);
      histogram.series({ model: "acme/a" }).observe(2);
    });
    expect(page).toContain('a_count{model="acme/a"} 2');
  });
});

describe("SeriesCounter", () => {
  it("shows each series from 0 on and what came to it however often it is read, beside what was counted directly", async () => {
    const registry = new Registry();
    const counter = new SeriesCounter({
      name: "a",
      help: "b",
      labelNames: ["model"],
      registers: [registry],
    });
    const series = counter.series({ model: "acme/a" });
    expect(await registry.metrics()).toContain('a{model="acme/a"} 0');
    series.inc();
    counter.series({ model: "acme/a" }).inc(2);
    counter.inc({ model: "acme/a" }, 4);
    expect(await registry.metrics()).toContain('a{model="acme/a"} 7');
    series.inc(3);
    expect(await registry.metrics()).toContain('a{model="acme/a"} 10');
    expect(counter).toBeInstanceOf(Counter);
  });
});
