/**
 * Supervisor's side of metrics: the sum over its workers, the admin process and itself, as one page for
 * Prometheus.
 * A scrape asks each process and waits a moment; a process that does not answer is shown with its last
 * report. Counts of ended processes are kept, so that counters never decrease while the supervisor lives.
 */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { AggregatorRegistry } from "prom-client";
import type { Channel } from "../host/channel.ts";
import { waitAtMost } from "../event-loop/wait.ts";
import { getLogLevel, type LogLevel, setLogLevel } from "./log-level.ts";
import type { Metrics } from "./metrics.ts";
import { parseTelemetryMessage, type Snapshot, type TelemetryMessage } from "./report.ts";
import { readProcess } from "./worker-telemetry.ts";

export interface MetricsHubOptions {
  readonly metrics: Metrics;
  readonly channels: { readonly workers: Channel; readonly admin: Channel };
  readonly workers: number;
  readonly build: { readonly version: string; readonly transport: string };
  /** Copies counts from elsewhere into `metrics`. */
  readonly read?: () => void;
}

interface Reporter {
  readonly pid: number;
  readonly snapshot: Snapshot;
  readonly atMs: number;
}

const COLLECT_BOUND_MS = 1_000;
const STALE_MS = 15_000;
const PROCESS_INTERVAL_MS = 5_000;

export class MetricsHub {
  readonly #options: MetricsHubOptions;
  /** By worker index; the admin process comes last. */
  readonly #reporters = new Map<number, Reporter>();
  readonly #lag = monitorEventLoopDelay({ resolution: 10 });
  readonly #timer: NodeJS.Timeout;
  /** Counts of ended processes. */
  #retired: Snapshot = [];
  #retiring: Promise<void> = Promise.resolve();
  #onReport: (index: number) => void = () => undefined;
  #collecting: Promise<void> | null = null;
  #isLevelChanged = false;

  constructor(options: MetricsHubOptions) {
    this.#options = options;
    const { metrics, channels, workers, build } = options;
    metrics.workersExpected.set(workers);
    metrics.workerRestarts.inc(0);
    metrics.buildInfo.set({ ...build, node_version: process.versions.node }, 1);
    channels.workers.onMessage((message, index) => this.#receive(message, index));
    channels.admin.onMessage((message) => this.#receive(message, workers));
    this.#lag.enable();
    const read = (): void => readProcess(metrics, "supervisor", this.#lag);
    read();
    this.#timer = setInterval(read, PROCESS_INTERVAL_MS);
    this.#timer.unref();
  }

  /** Renders Prometheus's text format. */
  async render(): Promise<{ readonly contentType: string; readonly text: string }> {
    this.#collecting ??= this.#collect().finally(() => {
      this.#collecting = null;
    });
    await this.#collecting;
    await this.#retiring;
    const { metrics, read } = this.#options;
    read?.();
    const freshSinceMs = performance.now() - STALE_MS;
    const reporters = [...this.#reporters.values()];
    const fresh = [...this.#reporters].filter(
      ([index, { atMs }]) => index < this.#options.workers && atMs >= freshSinceMs,
    );
    metrics.workersReporting.set(fresh.length);
    const own = (await metrics.registry.getMetricsAsJSON()) as unknown as Snapshot;
    const all = [own, this.#retired, ...reporters.map(({ snapshot }) => snapshot)];
    const registry = AggregatorRegistry.aggregate(all);
    return { contentType: registry.contentType, text: await registry.metrics() };
  }

  get logLevel(): LogLevel {
    return getLogLevel();
  }

  /** Sets the level of every process of the host, including those that start later. */
  setLogLevel(level: LogLevel): void {
    this.#isLevelChanged = true;
    setLogLevel(level);
    this.#send({ kind: "log_level", level });
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#lag.disable();
  }

  #send(message: TelemetryMessage): void {
    const { workers, admin } = this.#options.channels;
    workers.send(message);
    admin.send(message);
  }

  async #collect(): Promise<void> {
    const waiting = new Set(Array.from({ length: this.#options.workers + 1 }, (_, index) => index));
    const allReported = new Promise<void>((resolve) => {
      this.#onReport = (index) => {
        waiting.delete(index);
        if (waiting.size === 0) resolve();
      };
    });
    this.#send({ kind: "collect" });
    await waitAtMost(allReported, COLLECT_BOUND_MS);
    this.#onReport = () => undefined;
  }

  #receive(message: unknown, index: number): void {
    const report = parseTelemetryMessage(message);
    if (report?.kind !== "metrics") return;
    const before = this.#reporters.get(index);
    if (before !== undefined && before.pid !== report.pid) this.#retire(before.snapshot, index);
    if (before?.pid !== report.pid && this.#isLevelChanged) this.setLogLevel(getLogLevel());
    this.#reporters.set(index, { pid: report.pid, snapshot: report.snapshot, atMs: performance.now() });
    this.#onReport(index);
  }

  /** Keeps counters and histograms of an ended process, and drops its gauges. */
  #retire(snapshot: Snapshot, index: number): void {
    const { metrics, workers } = this.#options;
    if (index < workers) metrics.workerRestarts.inc();
    const counted = snapshot.filter(({ type }) => String(type) !== "gauge");
    this.#retiring = this.#addRetired(this.#retiring, counted);
  }

  async #addRetired(before: Promise<void>, counted: Snapshot): Promise<void> {
    await before;
    const registry = AggregatorRegistry.aggregate([this.#retired, counted] as never);
    this.#retired = await registry.getMetricsAsJSON();
  }
}
