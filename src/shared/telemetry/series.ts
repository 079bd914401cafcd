/**
 * Counters and histograms for the request path. prom-client joins labels to a text and looks it up for every
 * value; here callers look up a series once and keep it, so that counting a value is an addition.
 */
import { Counter, type Metric, type MetricValueWithName, type Registry } from "prom-client";

type Labels = Readonly<Record<string, string>>;

/** Counter with fixed labels. */
export class CounterSeries {
  readonly #labels: Labels;
  #waiting = 0;

  constructor(labels: Labels) {
    this.#labels = labels;
  }

  inc(value = 1): void {
    this.#waiting += value;
  }

  /** Adds the counts since the last call to the counter. */
  moveTo(counter: Counter): void {
    counter.inc(this.#labels, this.#waiting);
    this.#waiting = 0;
  }
}

export class SeriesCounter extends Counter {
  readonly #series: CounterSeries[] = [];

  /** Returns a series, which is exported from now on. Several with the same labels are summed. */
  series(labels: Labels): CounterSeries {
    const series = new CounterSeries(labels);
    this.#series.push(series);
    return series;
  }

  override get(): ReturnType<Counter["get"]> {
    for (const series of this.#series) series.moveTo(this);
    return super.get();
  }
}

/** Histogram with fixed labels. */
export class HistogramSeries {
  readonly #labels: Labels;
  readonly #bounds: readonly number[];
  /** Values per bucket, not cumulative; the last bucket has those above all bounds. */
  readonly #counts: number[];
  #sum = 0;

  constructor(labels: Labels, bounds: readonly number[]) {
    this.#labels = labels;
    this.#bounds = bounds;
    this.#counts = Array.from({ length: bounds.length + 1 }, () => 0);
  }

  observe(value: number): void {
    let bucket = 0;
    while (value > (this.#bounds[bucket] ?? Infinity)) bucket += 1;
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#sum += value;
  }

  /** Returns the values as prom-client does: cumulative buckets. */
  values(name: string): MetricValueWithName<string>[] {
    const labels = this.#labels;
    let count = 0;
    const buckets = [...this.#bounds, "+Inf"].map((le, bucket) => {
      count += this.#counts[bucket] ?? 0;
      return { labels: { le, ...labels }, value: count, metricName: `${name}_bucket` };
    });
    return [
      ...buckets,
      { labels, value: this.#sum, metricName: `${name}_sum` },
      { labels, value: count, metricName: `${name}_count` },
    ];
  }

  get isEmpty(): boolean {
    return this.#counts.every((count) => count === 0);
  }
}

export interface SeriesHistogramOptions {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
  /** Upper bounds. */
  readonly buckets: readonly number[];
  readonly registry: Registry;
}

/** Histogram for a registry; without labels it is exported from the start. */
export class SeriesHistogram {
  readonly name: string;
  readonly help: string;
  readonly type = "histogram";
  readonly aggregator = "sum";
  readonly #hasLabels: boolean;
  readonly #bounds: readonly number[];
  readonly #series = new Map<string, HistogramSeries>();

  constructor({ name, help, labelNames, buckets, registry }: SeriesHistogramOptions) {
    this.name = name;
    this.help = help;
    this.#hasLabels = labelNames.length > 0;
    this.#bounds = buckets;
    if (!this.#hasLabels) this.series({});
    // The registry only calls `get`, but prom-client's type requires more.
    registry.registerMetric(this as unknown as Metric);
  }

  /** Returns the series with these labels, exported from its first value on. */
  series(labels: Labels): HistogramSeries {
    const name = JSON.stringify(labels);
    const series = this.#series.get(name) ?? new HistogramSeries(labels, this.#bounds);
    this.#series.set(name, series);
    return series;
  }

  get() {
    const shown = [...this.#series.values()].filter((series) => !this.#hasLabels || !series.isEmpty);
    const values = shown.flatMap((series) => series.values(this.name));
    const { name, help, type, aggregator } = this;
    return Promise.resolve({ name, help, type, values, aggregator });
  }
}
