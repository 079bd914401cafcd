/** Telemetry of a worker, of the admin process and of the supervisor, assembled for their entry points. */
import type { Channel } from "../host/channel.ts";
import type { ConfigState } from "../config/reload/config-state.ts";
import type { Config } from "../config/schema.ts";
import { readVersion } from "../host/package-files.ts";
import { setLogLevel } from "./log-level.ts";
import { createRequestLogger } from "./logger.ts";
import { createMetrics, type Metrics, setSpendFalls, setTotal } from "./metrics.ts";
import { MetricsHub } from "./metrics-hub.ts";
import { RequestMeter } from "./request-meter.ts";
import { startReports, startWorkerTelemetry, type WorkerGauges } from "./worker-telemetry.ts";
import type { CounterSeries, HistogramSeries } from "./series.ts";

/** Operations whose latency matters on the request path; others include whole scans. */
const TIMED_OPERATIONS = [
  "admit",
  "lookUpKey",
  "openRecord",
  "charge",
  "renew",
  "close",
  "forget",
  "recordRequest",
  "timeMs",
];

/** Measures the latency of the store's operations and counts failures. */
export class RedisMeter {
  readonly #series: ReadonlyMap<
    string,
    { readonly latency: HistogramSeries; readonly errors: CounterSeries }
  >;

  constructor({ redisLatency, redisErrors }: Pick<Metrics, "redisLatency" | "redisErrors">) {
    this.#series = new Map(
      TIMED_OPERATIONS.map((operation) => {
        const latency = redisLatency.series({ operation });
        const errors = redisErrors.series({ operation });
        return [operation, { latency, errors }] as const;
      }),
    );
  }

  /** Call after a reply, an error or a timeout. */
  ended(operation: string, durationMs: number, isFailed: boolean): void {
    const series = this.#series.get(operation);
    series?.latency.observe(durationMs / 1000);
    if (isFailed) series?.errors.inc();
  }
}

export interface WorkerTelemetry {
  readonly metrics: Metrics;
  readonly meter: RequestMeter;
  readonly redisMeter: RedisMeter;
  start(read: () => WorkerGauges): void;
  /** Sends a last report. */
  stop(): Promise<void>;
}

export function createWorkerTelemetry(
  config: Config,
  { index, channel }: { index: number; channel: Channel },
): WorkerTelemetry {
  setLogLevel(config.telemetry.logLevel);
  const metrics = createMetrics();
  // Start at 0, so that the first retry is an increase.
  for (const { name: upstream } of config.upstreams) metrics.upstreamRetries.inc({ upstream }, 0);
  const name = `worker-${index}`;
  let running: { stop(): Promise<void> } | null = null;
  return {
    metrics,
    redisMeter: new RedisMeter(metrics),
    meter: new RequestMeter({ metrics, logger: createRequestLogger(name) }),
    start(read) {
      running = startWorkerTelemetry({ metrics, channel, process: name, read });
    },
    async stop() {
      await running?.stop();
    },
  };
}

export interface AdminTelemetry {
  readonly redisMeter: RedisMeter;
  /** Starts reporting the counts of the process's store. */
  start(store: Pick<CountingStore, "firedAlerts" | "spendFalls">): void;
  stop(): Promise<void>;
}

interface CountingStore {
  firedAlerts(): number;
  spendFalls(): Readonly<Record<string, number>>;
}

export function createAdminTelemetry(config: Config, channel: Channel): AdminTelemetry {
  setLogLevel(config.telemetry.logLevel);
  const metrics = createMetrics();
  let running: { stop(): Promise<void> } | null = null;
  return {
    redisMeter: new RedisMeter(metrics),
    start(store) {
      const read = (): void => {
        setTotal(metrics.alertsFired, {}, store.firedAlerts());
        setSpendFalls(metrics, store.spendFalls());
      };
      running = startReports({ metrics, channel, process: "admin", read });
    },
    async stop() {
      await running?.stop();
    },
  };
}

/** Figures of alert delivery. */
export interface AlertFigures {
  readonly fired: number;
  readonly channels: Readonly<
    Record<string, { readonly delivered: number; readonly failed: number; readonly failedAttempts: number }>
  >;
  readonly oldestUndeliveredSeconds: number;
}

export interface HostTelemetry {
  readonly metrics: Metrics;
  readonly redisMeter: RedisMeter;
  readonly hub: MetricsHub;
  /** Adds these figures to the metrics page. */
  readonly showAlerts: (read: () => AlertFigures) => void;
  /** Adds the number of decreases of spend to the metrics page, by cause. */
  readonly showSpendFalls: (read: () => Readonly<Record<string, number>>) => void;
}

/** @param workers Number of workers that report. */
export function createHostTelemetry(
  config: Config,
  {
    workers,
    channels,
    readConfigState,
  }: {
    workers: number;
    channels: { readonly workers: Channel; readonly admin: Channel };
    readConfigState: () => ConfigState;
  },
): HostTelemetry {
  setLogLevel(config.telemetry.logLevel);
  const metrics = createMetrics();
  let readAlerts: (() => AlertFigures) | null = null;
  let readSpendFalls: () => Readonly<Record<string, number>> = () => ({});
  const build = { version: readVersion(), transport: config.sidecar.transport };
  const hub = new MetricsHub({
    metrics,
    channels,
    workers,
    build,
    read: () => {
      const { refused, waitingForRestart } = readConfigState();
      metrics.configRefused.set(refused === null ? 0 : 1);
      metrics.configWaiting.set(waitingForRestart.length);
      if (readAlerts !== null) showAlertFigures(metrics, readAlerts());
      setSpendFalls(metrics, readSpendFalls());
    },
  });
  return {
    metrics,
    redisMeter: new RedisMeter(metrics),
    hub,
    showAlerts: (read) => {
      readAlerts = read;
    },
    showSpendFalls: (read) => {
      readSpendFalls = read;
    },
  };
}

function showAlertFigures(metrics: Metrics, alerts: AlertFigures): void {
  setTotal(metrics.alertsFired, {}, alerts.fired);
  metrics.alertAge.set(alerts.oldestUndeliveredSeconds);
  for (const [channel, counts] of Object.entries(alerts.channels)) {
    setTotal(metrics.alertDeliveries, { channel, result: "delivered" }, counts.delivered);
    setTotal(metrics.alertDeliveries, { channel, result: "failed" }, counts.failed);
    setTotal(metrics.alertDeliveries, { channel, result: "failed_attempt" }, counts.failedAttempts);
  }
}
