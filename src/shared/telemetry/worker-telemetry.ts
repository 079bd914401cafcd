/**
 * Metrics of a worker or the admin process: reads gauges, sends a report to the supervisor every five seconds
 * and on request, and follows its log level. Reports are lost while the supervisor is gone.
 */
import { type IntervalHistogram, monitorEventLoopDelay } from "node:perf_hooks";
import type { Channel } from "../host/channel.ts";
import { setLogLevel } from "./log-level.ts";
import { type Metrics, setSpendFalls, setTotal } from "./metrics.ts";
import { parseTelemetryMessage, type Snapshot } from "./report.ts";

/** Number of prompts of a model whose chat template exceeded the configured overhead, and the largest excess. */
export interface ExceededOverhead {
  readonly model: string;
  readonly hasTools: boolean;
  readonly prompts: number;
  /** Largest excess. */
  readonly tokens: number;
}

/** Values that are read for a report. */
export interface WorkerGauges {
  readonly requestsInFlight: number;
  readonly unacknowledgedCharges: number;
  readonly bufferedBytes: number;
  readonly isRedisOutOfReach: boolean;
  readonly overheadsExceeded: readonly ExceededOverhead[];
  /** Number of decreases of spend, by cause. */
  readonly spendFalls: Readonly<Record<string, number>>;
  readonly uncappedSessions: number;
  readonly spool: {
    readonly pendingBytes: number;
    readonly replayedEntries: number;
    readonly expiredEntries: number;
    readonly rejectedEntries: number;
    readonly damagedLines: number;
    readonly refusedEntries: number;
  };
}

export interface WorkerTelemetryOptions {
  readonly metrics: Metrics;
  readonly channel: Channel;
  /** Name of the process, "worker-0". */
  readonly process: string;
  readonly read: () => WorkerGauges;
}

const REPORT_INTERVAL_MS = 5_000;
const LAG_RESOLUTION_MS = 10;
const NANOSECONDS = 1e9;
const MICROSECONDS = 1e6;

export interface ReportsOptions extends Omit<WorkerTelemetryOptions, "read"> {
  /** Copies counts from elsewhere into `metrics`. */
  readonly read: () => void;
}

/** Like `startReports`, with a worker's gauges. */
export function startWorkerTelemetry(options: WorkerTelemetryOptions): { stop(): Promise<void> } {
  return startReports({ ...options, read: () => readGauges(options) });
}

/** Starts reporting; `stop` sends a last report. */
export function startReports(options: ReportsOptions): { stop(): Promise<void> } {
  const { channel, metrics, read } = options;
  const lag = monitorEventLoopDelay({ resolution: LAG_RESOLUTION_MS });
  lag.enable();
  const report = async (): Promise<void> => {
    read();
    const snapshot = (await metrics.registry.getMetricsAsJSON()) as unknown as Snapshot;
    channel.send({ kind: "metrics", pid: process.pid, snapshot });
  };
  const reportSafely = (): void => void report().catch(() => undefined);
  channel.onMessage((message) => {
    const order = parseTelemetryMessage(message);
    if (order?.kind === "collect") reportSafely();
    if (order?.kind === "log_level") setLogLevel(order.level);
  });
  const timer = setInterval(() => {
    readProcess(metrics, options.process, lag);
    reportSafely();
  }, REPORT_INTERVAL_MS);
  timer.unref();
  readProcess(metrics, options.process, lag);
  reportSafely();
  return {
    async stop() {
      clearInterval(timer);
      lag.disable();
      await report();
    },
  };
}

/** Reads memory, CPU and the event loop's delay since the last call. */
export function readProcess(metrics: Metrics, name: string, lag: IntervalHistogram): void {
  const labels = { process: name };
  metrics.residentMemory.set(labels, process.memoryUsage.rss());
  const { user, system } = process.cpuUsage();
  setTotal(metrics.cpu, labels, (user + system) / MICROSECONDS);
  // Without a sample the percentile is NaN.
  const seconds = lag.percentile(99) / NANOSECONDS - LAG_RESOLUTION_MS / 1000;
  metrics.eventLoopLag.set(labels, lag.count > 0 ? Math.max(0, seconds) : 0);
  lag.reset();
}

function readGauges({ metrics, read, process: name }: WorkerTelemetryOptions): void {
  const gauges = read();
  metrics.requestsInFlight.set(gauges.requestsInFlight);
  metrics.unacknowledged.set(gauges.unacknowledgedCharges);
  metrics.bufferedBytes.set({ process: name }, gauges.bufferedBytes);
  metrics.redisOut.set({ process: name }, gauges.isRedisOutOfReach ? 1 : 0);
  for (const { model, hasTools, prompts, tokens } of gauges.overheadsExceeded) {
    const labels = { model, tools: String(hasTools) };
    setTotal(metrics.overheadsExceeded, labels, prompts);
    metrics.overheadSeen.set(labels, tokens);
  }
  setSpendFalls(metrics, gauges.spendFalls);
  setTotal(metrics.uncappedSessions, {}, gauges.uncappedSessions);
  const { spool } = gauges;
  metrics.spoolBytes.set(spool.pendingBytes);
  setTotal(metrics.spoolEntries, { result: "replayed" }, spool.replayedEntries);
  setTotal(metrics.spoolEntries, { result: "expired" }, spool.expiredEntries);
  setTotal(metrics.spoolEntries, { result: "rejected" }, spool.rejectedEntries);
  setTotal(metrics.spoolEntries, { result: "damaged" }, spool.damagedLines);
  setTotal(metrics.spoolEntries, { result: "refused" }, spool.refusedEntries);
}
