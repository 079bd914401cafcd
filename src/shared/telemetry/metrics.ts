/**
 * Metrics of one process: prom-client with our own names. Nothing waits, and nothing on the request path
 * creates strings: labels are bound when they are first seen (`series.ts`).
 */
import { type Counter, Gauge, Registry } from "prom-client";
import { METRICS, type MetricDefinition } from "./metric-definitions.ts";
import { SeriesCounter, SeriesHistogram } from "./series.ts";

type Definitions = typeof METRICS;
type InstrumentOf<Type> = Type extends "counter"
  ? SeriesCounter
  : Type extends "gauge"
    ? Gauge
    : SeriesHistogram;

/** One instrument per entry of `METRICS`. */
export type Instruments = {
  readonly [Name in keyof Definitions]: InstrumentOf<Definitions[Name]["type"]>;
};

export interface Metrics extends Instruments {
  readonly registry: Registry;
}

/** Creates a separate registry with every metric. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const instruments = Object.fromEntries(
    Object.entries(METRICS).map(([key, definition]) => [key, createInstrument(definition, registry)]),
  );
  return { ...(instruments as unknown as Instruments), registry };
}

function createInstrument(
  definition: MetricDefinition,
  registry: Registry,
): SeriesCounter | Gauge | SeriesHistogram {
  const { name, help, type, labels, buckets = [], aggregator = "sum" } = definition;
  const labelNames = [...labels];
  if (type === "counter") return new SeriesCounter({ name, help, labelNames, registers: [registry] });
  if (type === "gauge") return new Gauge({ name, help, labelNames, registers: [registry], aggregator });
  return new SeriesHistogram({ name, help, labelNames, buckets, registry });
}

/** Sets a counter to the total of another object. */
export function setTotal(counter: Counter, labels: Record<string, string>, total: number): void {
  counter.remove(labels);
  counter.inc(labels, total);
}

/** Sets the number of decreases of spend that a store has counted, by cause. */
export function setSpendFalls(
  metrics: Pick<Metrics, "spendFalls">,
  falls: Readonly<Record<string, number>>,
): void {
  for (const [cause, total] of Object.entries(falls)) setTotal(metrics.spendFalls, { cause }, total);
}
