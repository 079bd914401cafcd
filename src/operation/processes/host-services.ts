/**
 * Entry point of services that run once per host in the supervisor's process: probes, alerts, retention, the
 * reaper, metrics of all processes. Users cannot call anything here: work on their behalf runs in the admin
 * process (admin-api.ts).
 */
import { type HealthServer, isReady, startHealthServer } from "../../management/admin/health-server.ts";
import { createAlertDelivery } from "../../management/alerts/create-alert-delivery.ts";
import { AlertWatch } from "../../management/alerts/watch.ts";
import { systemClock } from "../../shared/time/clock.ts";
import type { Config } from "../../shared/config/schema.ts";
import { resolveWorkerCount } from "../../shared/config/worker-count.ts";
import { shareReachedUpstreams } from "../../data-path/exchange/ends/reached-upstreams.ts";
import { shareBlocks } from "../../envoy/record-block.ts";
import { shareReportedEnds } from "../../data-path/exchange/ends/reported-ends.ts";
import { ensureDemoKey } from "../demo/organization.ts";
import { readDiskSpace } from "../../shared/host/disk-space.ts";
import type { Logger } from "../../shared/host/logger.ts";
import { answerQuestions } from "../../shared/host/questions.ts";
import { Reaper } from "../../data-path/settlement/reaper.ts";
import { requestLogFolder } from "../../data-path/request-log/request-log.ts";
import { RequestLogRetention } from "../../data-path/request-log/retention.ts";
import { openStoreInBackground } from "../../data-path/store/open-store.ts";
import type { Store } from "../../shared/stored/store.ts";
import type { SupervisorServices, SupervisorServicesOptions } from "../supervisor/gateway-parts.ts";
import { createHostTelemetry } from "../../shared/telemetry/gateway-telemetry.ts";
import type { Metrics } from "../../shared/telemetry/metrics.ts";
import type { HostQuestions } from "../../shared/telemetry/host-questions.ts";
import { createLogger } from "../../shared/telemetry/logger.ts";
import { RedisMemory } from "../../shared/telemetry/redis-memory.ts";

/** Longer than on the request path. */
const COMMAND_TIMEOUT_MS = 5_000;
/** A key must be in Redis before it is printed, and a starting Redis loads its append-only file first. */
const DEMO_WAIT_MS = 28_000;

/**
 * Starts the services, next to the other processes. Works without Redis, except for a demo key. Rejects if
 * the probes' port is taken, or if Redis has data of a newer version or rejects the login.
 */
export async function startSupervisorServices(
  options: SupervisorServicesOptions,
): Promise<SupervisorServices> {
  const { config, demo, channels, readConfigState, areWorkersReady } = options;
  const logger = createLogger("supervisor");
  const workers = resolveWorkerCount(config.sidecar.workers);
  const telemetry = createHostTelemetry(config, { ...options, workers });
  const { hub } = telemetry;
  shareReachedUpstreams(channels.workers);
  shareReportedEnds(channels.workers);
  shareBlocks(channels.workers);
  answerQuestions<HostQuestions>(channels.admin, {
    renderMetrics: () => hub.render(),
    readConfigState,
    areWorkersReady,
    setLogLevel: (level) => hub.setLogLevel(level),
  });
  const storeOptions = { commandTimeoutMs: COMMAND_TIMEOUT_MS, redisMeter: telemetry.redisMeter };
  const { store, client, ...opening } = await openStoreInBackground(config, logger, storeOptions);
  if (!opening.isOpen() && config.redis !== null) options.onRedisAwaited(config.redis.urls.join(", "));
  if (demo !== null) await opening.waitUntilOpen(DEMO_WAIT_MS);
  const demoKey = demo === null ? null : await ensureDemoKey(store, config, demo.storedKey);
  const { reaped } = telemetry.metrics;
  const reaper = new Reaper({ store, clock: systemClock, logger, onClosed: () => reaped.inc() });
  const health = await openHealthPort(options, store);
  void opening.opened.then(() => repairInBackground(store, logger));
  const tasks: Task[] = [
    reaper,
    createRetention(config, telemetry.metrics, logger),
    new RedisMemory(() => store.readMemory(), telemetry.metrics),
  ];
  for (const task of tasks) task.start();
  telemetry.showSpendFalls(() => store.spendFalls());
  return {
    demoKey,
    deliverAlerts(adminUrl) {
      const pagesUrl = config.dashboard.baseUrl ?? adminUrl;
      const alerts = createAlertDelivery({ config, store, client, pagesUrl, clock: systemClock, logger });
      const watch = new AlertWatch({ store, logger });
      for (const task of [alerts, watch]) task.start();
      tasks.push(alerts, watch);
      telemetry.showAlerts(() => alerts.readMetrics());
    },
    async close() {
      await health?.close();
      for (const task of tasks) await task.stop();
      hub.stop();
      opening.close();
    },
  };
}

interface Task {
  start(): void;
  stop(): Promise<void> | void;
}

/** Also exports the free disk space. */
function createRetention(config: Config, metrics: Metrics, logger: Logger): RequestLogRetention {
  const { requestLogBytes, diskFree, diskReserve } = metrics;
  const { spoolMaxBytes } = config.settlement;
  diskReserve.set(spoolMaxBytes);
  return new RequestLogRetention({
    ...config.retention,
    spoolMaxBytes,
    dir: requestLogFolder(config),
    clock: systemClock,
    logger,
    onBytes: (bytes) => requestLogBytes.set(bytes),
    async readSpace() {
      const space = await readDiskSpace(config.dataDir);
      if (space !== null) diskFree.set(space.freeBytes);
      return space;
    },
  });
}

/** Returns null if health is only served on the admin port. */
async function openHealthPort(
  { config: { admin }, areWorkersReady }: SupervisorServicesOptions,
  store: Store,
): Promise<HealthServer | null> {
  if (admin.healthPort === null) return null;
  const isServing = (): Promise<boolean> => isReady({ store, areWorkersReady });
  return await startHealthServer({ host: admin.host, port: admin.healthPort, isReady: isServing });
}

/** Repairs leftovers of crashes between writes to two slots, in the background because it reads everything. */
function repairInBackground(store: Store, logger: Logger): void {
  store.repair().then(
    (report) => logger.info(report, "key look-ups consistent"),
    (error: unknown) => logger.warn({ err: error }, "key look-ups not checked, retrying at the next start"),
  );
}
