/**
 * The metrics of one process: prom-client behind names of our own. Nothing here waits, and nothing on a request's path
 * makes a string: labels are bound when they are first seen.
 */
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { METRICS, type MetricDefinition } from "./metric-definitions.ts";

type Definitions = typeof METRICS;
type InstrumentOf<Type> = Type extends "counter" ? Counter : Type extends "gauge" ? Gauge : Histogram;

/** One instrument per entry of `METRICS`. */
export type Instruments = {
  readonly [Name in keyof Definitions]: InstrumentOf<Definitions[Name]["type"]>;
};

export interface Metrics extends Instruments {
  readonly registry: Registry;
}

/** A registry of its own, with every metric in it. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const instruments = Object.fromEntries(
    Object.entries(METRICS).map(([key, definition]) => [key, createInstrument(definition, registry)]),
  );
  return { ...(instruments as unknown as Instruments), registry };
}

function createInstrument(definition: MetricDefinition, registry: Registry): Counter | Gauge | Histogram {
  const { name, help, type, labels, buckets, aggregator = "sum" } = definition;
  const options = { name, help, labelNames: [...labels], registers: [registry] };
  if (type === "counter") return new Counter(options);
  if (type === "gauge") return new Gauge({ ...options, aggregator });
  return new Histogram({ ...options, buckets: [...(buckets ?? [])] });
}

/** A counter that another object counts: it shows that one's total. */
export function setTotal(counter: Counter, labels: Record<string, string>, total: number): void {
  counter.remove(labels);
  counter.inc(labels, total);
}
