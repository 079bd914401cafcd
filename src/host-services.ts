/**
 * Composition root of what runs once per host, beside the workers (worker.ts): management API, dashboard, alerts,
 * retention, closing of requests whose worker is gone.
 */
import { type HealthServer, startHealthServer } from "./admin/health-server.ts";
import { IdentityProviders } from "./admin/identity/identity-providers.ts";
import { isReady } from "./admin/is-ready.ts";
import { ReportTurns } from "./admin/report-turns.ts";
import { startAdminServer } from "./admin/server.ts";
import { createAlertDelivery } from "./alerts/create-alert-delivery.ts";
import { CatalogReference } from "./catalog/catalog-reference.ts";
import { createCatalog } from "./catalog/catalog.ts";
import { systemClock } from "./time/clock.ts";
import { formatErrorReference } from "./config/documentation.ts";
import { setErrorReference } from "./contract/error-reference.ts";
import { resolveWorkerCount } from "./config/worker-count.ts";
import { shareReachedUpstreams } from "./exchange/reached-upstreams.ts";
import { shareReportedEnds } from "./exchange/reported-ends.ts";
import { ensureDemoKey } from "./demo/organization.ts";
import { formatLocalUrl } from "./host/local-url.ts";
import { readDiskSpace } from "./host/disk-space.ts";
import type { Logger } from "./host/logger.ts";
import { Reaper } from "./settlement/reaper.ts";
import { requestLogFolder } from "./request-log/request-log.ts";
import { RequestLogRetention } from "./request-log/retention.ts";
import { openStoreInBackground } from "./store/open-store.ts";
import type { Store } from "./store/types.ts";
import type { SupervisorServices, SupervisorServicesOptions } from "./supervisor/gateway-parts.ts";
import { createHostTelemetry } from "./telemetry/gateway-telemetry.ts";
import { createLogger } from "./telemetry/logger.ts";
import { RedisMemory } from "./telemetry/redis-memory.ts";

/** Beside the path nothing waits for Redis's answer, and a month's usage of thousands of keys takes a while. */
const MANAGEMENT = { commandTimeoutMs: 5_000 };
/** A key to print must be in Redis first, and a Redis that is only just starting reads its append-only file. */
const DEMO_WAIT_MS = 28_000;

/**
 * Starts what runs once per host, beside the workers. It goes without Redis, except for a demo key. Rejects when the
 * port is taken, and when Redis holds a newer version's data or refuses the login.
 */
export async function startSupervisorServices(
  options: SupervisorServicesOptions,
): Promise<SupervisorServices> {
  const { config, operatorToken, demo } = options;
  const logger = createLogger("supervisor");
  setErrorReference(formatErrorReference(config));
  const workers = resolveWorkerCount(config.sidecar.workers);
  const telemetry = createHostTelemetry(config, { ...options, workers });
  shareReachedUpstreams(options.channel);
  shareReportedEnds(options.channel);
  const storeOptions = { ...MANAGEMENT, redisMeter: telemetry.redisMeter };
  const { store, client, ...opening } = await openStoreInBackground(config, logger, storeOptions);
  if (!opening.isOpen() && config.redis !== null) options.onRedisAwaited(config.redis.urls.join(", "));
  const catalog = new CatalogReference(createCatalog(config));
  if (demo !== null) await opening.waitUntilOpen(DEMO_WAIT_MS);
  const demoKey = demo === null ? null : await ensureDemoKey(store, config, demo.storedKey);
  const { reaped, requestLogBytes, diskFree, diskReserve } = telemetry.metrics;
  const reaper = new Reaper({ store, clock: systemClock, logger, onClosed: () => reaped.inc() });
  const admin = await startAdminServer({
    ...config.admin,
    operatorToken,
    areWorkersReady: options.areWorkersReady,
    store,
    reports: new ReportTurns(),
    catalog: () => catalog.current,
    readConfigState: options.readConfigState,
    hasMailServer: config.notifications.smtp !== null,
    emailDomains: config.notifications.emails.allowedDomains,
    allowPrivateWebhooks: config.notifications.webhooks.allowPrivateNetworks,
    nowMs: () => systemClock.nowMs(),
    contact: config.dashboard.contact,
    dashboardUrl: config.dashboard.baseUrl,
    providers: new IdentityProviders({
      configs: config.dashboard.oidc,
      baseUrl: config.dashboard.baseUrl ?? "",
      nowMs: () => systemClock.nowMs(),
    }),
    takesTokens: config.dashboard.tokenSignIn,
    gatewayUrl: config.publicBaseUrl ?? formatLocalUrl(config.listen.host, config.listen.port),
    ...telemetry.admin,
    logger,
  });
  const health = await openHealthPort(options, store);
  const pagesUrl = config.dashboard.baseUrl ?? admin.url;
  const alerts = createAlertDelivery({ config, store, client, pagesUrl, clock: systemClock, logger });
  void opening.opened.then(() => repairInBackground(store, logger));
  const { spoolMaxBytes } = config.settlement;
  diskReserve.set(spoolMaxBytes);
  const retention = new RequestLogRetention({
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
  const tasks = [reaper, retention, alerts, new RedisMemory(() => store.readMemory(), telemetry.metrics)];
  for (const task of tasks) task.start();
  telemetry.showAlerts(() => alerts.readMetrics());
  telemetry.showSpendFalls(() => store.spendFalls());
  return {
    adminUrl: admin.url,
    demoKey,
    replaceCatalog(changed) {
      catalog.replace(createCatalog({ ...config, catalog: changed }));
    },
    async close() {
      await admin.close();
      await health?.close();
      for (const task of tasks) await task.stop();
      telemetry.hub.stop();
      opening.close();
    },
  };
}

/** Null: health is asked on the admin port alone. */
async function openHealthPort(
  { config: { admin }, areWorkersReady }: SupervisorServicesOptions,
  store: Store,
): Promise<HealthServer | null> {
  if (admin.healthPort === null) return null;
  const isServing = (): Promise<boolean> => isReady({ store, areWorkersReady });
  return await startHealthServer({ host: admin.host, port: admin.healthPort, isReady: isServing });
}

/** Tidies what a crash between two slots can have left. It reads everything, and nothing waits for it. */
function repairInBackground(store: Store, logger: Logger): void {
  store.repair().then(
    (report) => logger.info(report, "key look-ups consistent"),
    (error: unknown) => logger.warn({ err: error }, "key look-ups not checked, retrying at the next start"),
  );
}
