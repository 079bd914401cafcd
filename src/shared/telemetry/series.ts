/**
 * Counters and histograms of a request's path. prom-client joins a series' labels to a text and looks it up for every
 * value; here whoever counts asks once for the series of its labels and keeps it, and a value is an addition.
 */
import { Counter, type Metric, type MetricValueWithName, type Registry } from "prom-client";

type Labels = Readonly<Record<string, string>>;

/** A counter under fixed labels. */
export class CounterSeries {
  readonly #labels: Labels;
  #waiting = 0;

  constructor(labels: Labels) {
    this.#labels = labels;
  }

  inc(value = 1): void {
    this.#waiting += value;
  }

  /** Puts what came since the last time into the counter. */
  moveTo(counter: Counter): void {
    counter.inc(this.#labels, this.#waiting);
    this.#waiting = 0;
  }
}

export class SeriesCounter extends Counter {
  readonly #series: CounterSeries[] = [];

  /** A series that the page shows from now on. Several with the same labels count together. */
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

/** A histogram under fixed labels. */
export class HistogramSeries {
  readonly #labels: Labels;
  readonly #bounds: readonly number[];
  /** Values of each bucket alone; the last one's are above all bounds. */
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

  /** The values of a histogram as prom-client tells them: each bucket with all below it. */
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

/** What a registry reads of a histogram; without labels it is on the page from the beginning. */
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
    // The registry calls `get` alone, which prom-client's type of a metric does not say.
    registry.registerMetric(this as unknown as Metric);
  }

  /** The one with these labels; on the page from its first value on. */
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
