/**
 * Entry point of the admin process: management API, dashboard, exports and sign-in, with its own connections
 * to Redis. It asks the supervisor for facts that only that knows. Workers, probes and alerts run without it.
 */
import { IdentityProviders } from "../../management/admin/identity/identity-providers.ts";
import { ReportTurns } from "../../management/admin/report-turns.ts";
import type { EmailServices } from "../../management/alerts/email-channel.ts";
import { createMailer } from "../../management/alerts/mailer.ts";
import { ModelStatus } from "../../management/admin/model-status.ts";
import { startAdminServer } from "../../management/admin/server.ts";
import { CatalogReference } from "../../data-path/catalog/catalog-reference.ts";
import { createCatalog } from "../../data-path/catalog/catalog.ts";
import { formatErrorReference } from "../../shared/config/documentation.ts";
import { setErrorReference } from "../../shared/contract/error-reference.ts";
import type { HostFinding } from "../../shared/host/finding.ts";
import { formatLocalUrl, isLoopback } from "../../shared/host/local-url.ts";
import { createHostCalls } from "../../shared/host/questions.ts";
import { openStoreInBackground } from "../../data-path/store/open-store.ts";
import type { OperationMeter } from "../../data-path/store/run.ts";
import type { Store } from "../../shared/stored/store.ts";
import type { Logger } from "../../shared/host/logger.ts";
import type { ProcessOptions, RunningAdmin } from "../supervisor/gateway-parts.ts";
import { resolveOperatorToken } from "../supervisor/secret-file.ts";
import { createAdminTelemetry } from "../../shared/telemetry/gateway-telemetry.ts";
import type { HostQuestions } from "../../shared/telemetry/host-questions.ts";
import { createLogger } from "../../shared/telemetry/logger.ts";
import { logProcessWarnings } from "../../shared/telemetry/process-warnings.ts";
import { systemClock } from "../../shared/time/clock.ts";

/** Longer than on the request path. */
const COMMAND_TIMEOUT_MS = 5_000;

/**
 * Starts it; resolves when it listens, with Redis or without. Rejects if the port is taken, or if Redis has
 * data of a newer version or rejects the login.
 */
export async function startAdminApi({ config, channel }: ProcessOptions): Promise<RunningAdmin> {
  const logger = createLogger("admin");
  logProcessWarnings(logger);
  setErrorReference(formatErrorReference(config));
  const telemetry = createAdminTelemetry(config, channel);
  const callHost = createHostCalls<HostQuestions>(channel);
  const { store, close } = await openAdminStore(config, logger, telemetry.redisMeter);
  const catalog = new CatalogReference(createCatalog(config));
  const email = createEmailServices(config);
  const renderMetrics = () => callHost("renderMetrics");
  const modelStatus = new ModelStatus({
    render: renderMetrics,
    listModels: () => catalog.current.models.map(({ id }) => id),
  });
  const server = await startAdminServer({
    ...readServerSettings(config),
    areWorkersReady: () => callHost("areWorkersReady"),
    store,
    reports: new ReportTurns(),
    catalog: () => catalog.current,
    readConfigState: () => callHost("readConfigState"),
    email,
    nowMs: () => systemClock.nowMs(),
    setLogLevel: (level) => callHost("setLogLevel", level),
    metrics: {
      render: renderMetrics,
      token: config.telemetry.metricsToken?.reveal() ?? null,
      isLocal: isLoopback(config.admin.host),
    },
    modelStatus,
    logger,
  });
  telemetry.start(store);
  modelStatus.start();
  return {
    url: server.url,
    replaceCatalog(changed) {
      catalog.replace(createCatalog({ ...config, catalog: changed }));
    },
    async drain() {
      modelStatus.stop();
      await server.close();
      email.mailer?.close();
      await telemetry.stop();
      close();
    },
  };
}

function readServerSettings(config: ProcessOptions["config"]) {
  return {
    ...config.admin,
    operatorToken: resolveOperatorToken(config),
    allowPrivateWebhooks: config.notifications.webhooks.allowPrivateNetworks,
    contact: config.dashboard.contact,
    dashboardUrl: config.dashboard.baseUrl,
    providers: createProviders(config),
    takesTokens: config.dashboard.tokenSignIn,
    gatewayUrl: config.publicBaseUrl ?? formatLocalUrl(config.listen.host, config.listen.port),
    examine: createExamine(config),
  };
}

/** A report's rows have a connection of their own: the replies to other commands would wait behind them. */
async function openAdminStore(
  config: ProcessOptions["config"],
  logger: Logger,
  redisMeter: OperationMeter,
): Promise<{ readonly store: Store; readonly close: () => void }> {
  const open = () =>
    openStoreInBackground(config, logger, { commandTimeoutMs: COMMAND_TIMEOUT_MS, redisMeter });
  const [main, reports] = await Promise.all([open(), open()]);
  return {
    store: {
      ...main.store,
      readUsage: (...given) => reports.store.readUsage(...given),
      readUsageOfDay: (...given) => reports.store.readUsageOfDay(...given),
      readSumsOfDay: (...given) => reports.store.readSumsOfDay(...given),
      listRequests: (...given) => reports.store.listRequests(...given),
    },
    close() {
      main.close();
      reports.close();
    },
  };
}

/** The mailer connects with the first email. */
function createEmailServices({ notifications }: ProcessOptions["config"]): EmailServices {
  const { smtp, emails } = notifications;
  return { mailer: smtp === null ? null : createMailer(smtp), ...emails };
}

/** Examines the gateway once at a time, however many ask. */
function createExamine(config: ProcessOptions["config"]): () => Promise<readonly HostFinding[]> {
  let running: Promise<readonly HostFinding[]> | null = null;
  const examine = async (): Promise<readonly HostFinding[]> => {
    const { examineRunning } = await import("../doctor/doctor.ts");
    return examineRunning(config);
  };
  return () =>
    (running ??= examine().finally(() => {
      running = null;
    }));
}

function createProviders({ dashboard }: ProcessOptions["config"]): IdentityProviders {
  const { oidc: configs, baseUrl } = dashboard;
  return new IdentityProviders({ configs, baseUrl: baseUrl ?? "", nowMs: () => systemClock.nowMs() });
}
