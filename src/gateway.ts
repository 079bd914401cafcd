/**
 * Composition root: every object of a worker is made here, once, by hand. Read it from top to bottom to see what the
 * gateway consists of; nothing else constructs a stage.
 */
import { hostname } from "node:os";
import { startAdminServer } from "./admin/server.ts";
import { KeyDirectory } from "./auth/key-directory.ts";
import { CatalogReference } from "./catalog/catalog-reference.ts";
import { createCatalog } from "./catalog/catalog.ts";
import { type Clock, systemClock } from "./clock.ts";
import type { Config } from "./config/schema.ts";
import { resolveWorkerCount } from "./config/worker-count.ts";
import { createCheckHandler } from "./envoy/check.ts";
import { MIN_EDGE_BODY_BYTES } from "./envoy/bootstrap/body-limits.ts";
import { RequestStream } from "./envoy/request-stream.ts";
import { type EnvoyHandlers, createEnvoyServer } from "./envoy/server.ts";
import { createAdmitRequest } from "./exchange/admit-request.ts";
import { createAnswers } from "./exchange/answers.ts";
import { BodyBudget } from "./exchange/body-budget.ts";
import { createCountTokens } from "./exchange/count-tokens.ts";
import { Exchange } from "./exchange/exchange.ts";
import { ensureDemoKey } from "./demo/organization.ts";
import { createGraceAdmission } from "./limits/grace-admission.ts";
import { GraceOutage } from "./limits/grace-outage.ts";
import { GraceSpend } from "./limits/grace-spend.ts";
import { GraceWorkers } from "./limits/grace-workers.ts";
import { Reaper } from "./settlement/reaper.ts";
import { Settlement } from "./settlement/settlement.ts";
import { createGeneration } from "./settlement/spool-files.ts";
import { Spool } from "./settlement/spool.ts";
import { TokenEstimator } from "./settlement/token-estimator.ts";
import { createId } from "./store/ids.ts";
import { openStore } from "./store/open-store.ts";
import type { Store } from "./store/types.ts";
import type {
  RunningWorker,
  SupervisorServices,
  SupervisorServicesOptions,
  WorkerOptions,
} from "./supervisor/gateway-parts.ts";
import { type Logger, createLogger } from "./telemetry/logger.ts";
import { messagesProtocol } from "./translation/messages-to-chat/protocol.ts";
import { chatProtocol } from "./translation/openai/protocol.ts";

const PROTOCOLS = { chat: chatProtocol, messages: messagesProtocol } as const;
/** What a gRPC message holds beside a body of the largest size: headers, field tags. */
const MESSAGE_OVERHEAD_BYTES = 1024 * 1024;

/** Beside the path nothing waits for Redis's answer, and a month's usage of thousands of keys takes a while. */
const MANAGEMENT_COMMAND_TIMEOUT_MS = 5_000;

/** Starts one worker; resolves when it listens. Rejects when Redis cannot be reached. */
export async function startWorker({ config, index, address }: WorkerOptions): Promise<RunningWorker> {
  const logger = createLogger(`worker-${index}`);
  const { store, close } = await openStore(config, logger);
  const catalog = new CatalogReference(createCatalog(config));
  const estimator = new TokenEstimator();
  const grace = createGrace(config, index, store, logger);
  const { outage, spend, spool, workers } = grace;
  const settlement = new Settlement({ store, estimator, clock: systemClock, logger, outage, spend, spool });
  let draining = false;
  const handlers = createHandlers({
    config,
    store: { ...store, admit: grace.createAdmit(settlement) },
    catalog,
    estimator,
    settlement,
    logger,
    clock: systemClock,
    isReady: () => !draining,
  });
  const server = createEnvoyServer({
    transport: config.sidecar.transport,
    address: parseAddress(address),
    handlers,
    maxMessageBytes: Math.max(config.limits.maxBodyBytes, MIN_EDGE_BODY_BYTES) + MESSAGE_OVERHEAD_BYTES,
  });
  await spool.start();
  workers.start();
  settlement.start();
  await server.listen();
  return {
    async drain(boundMs) {
      draining = true;
      const end = systemClock.monotonicMs() + boundMs;
      await server.drain(boundMs);
      try {
        await settlement.stop(Math.max(0, end - systemClock.monotonicMs()));
      } finally {
        await workers.stop();
        await server.close();
        close();
      }
    },
    reload(changed) {
      catalog.replace(createCatalog(changed));
    },
  };
}

/** What carries requests and charges over the time in which Redis is out of reach. */
function createGrace(config: Config, index: number, store: Store, logger: Logger) {
  const { graceSeconds, spool: dir, spoolMaxBytes } = config.settlement;
  const workersOfHost = resolveWorkerCount(config.sidecar.workers);
  const outage = new GraceOutage({ clock: systemClock, graceMs: graceSeconds * 1000, logger });
  const spend = new GraceSpend();
  const generation = createGeneration(systemClock.nowMs(), process.pid);
  const spool = new Spool({
    dir,
    maxBytes: Math.floor(spoolMaxBytes / workersOfHost),
    index,
    workers: workersOfHost,
    generation,
    store,
    clock: systemClock,
    logger,
    onAcknowledged: (charge) => spend.acknowledged(charge),
  });
  const workerId = `${hostname()}-${index}-${generation}`;
  const workers = new GraceWorkers({ store, workerId, workersOfHost, outage });
  const createAdmit = (settlement: Settlement) =>
    createGraceAdmission({
      admit: (input) => store.admit(input),
      outage,
      spend,
      clock: systemClock,
      shares: () => workers.count,
      countInFlight: (keyId) => settlement.countOpen(keyId),
    });
  return { outage, spend, spool, workers, createAdmit };
}

/** Starts what runs once per host, beside the workers. Rejects when Redis cannot be reached or the port is taken. */
export async function startSupervisorServices(
  options: SupervisorServicesOptions,
): Promise<SupervisorServices> {
  const { config, operatorToken, demo } = options;
  const logger = createLogger("supervisor");
  const { store, close } = await openStore(config, logger, {
    commandTimeoutMs: MANAGEMENT_COMMAND_TIMEOUT_MS,
  });
  const catalog = new CatalogReference(createCatalog(config));
  const demoKey = demo === null ? null : await ensureDemoKey(store, config, demo.storedKey);
  const reaper = new Reaper({ store, clock: systemClock, logger });
  const admin = await startAdminServer({
    ...config.admin,
    operatorToken,
    store,
    catalog: () => catalog.current,
    hasMailServer: config.notifications.smtp !== null,
    allowPrivateWebhooks: config.notifications.webhooks.allowPrivateNetworks,
    nowMs: () => systemClock.nowMs(),
    logger,
  });
  repairInBackground(store, logger);
  reaper.start();
  return {
    adminUrl: admin.url,
    demoKey,
    reload(changed) {
      catalog.replace(createCatalog(changed));
    },
    async close() {
      await admin.close();
      await reaper.stop();
      close();
    },
  };
}

/** Tidies what a crash between two slots can have left. It reads everything, and nothing waits for it. */
function repairInBackground(store: Store, logger: Logger): void {
  store.repair().then(
    (report) => logger.info(report, "look-ups of keys are in order"),
    (error: unknown) =>
      logger.warn({ err: error }, "look-ups of keys could not be checked; the next start tries again"),
  );
}

interface Parts {
  readonly config: Config;
  readonly store: Store;
  readonly catalog: CatalogReference;
  readonly estimator: TokenEstimator;
  readonly settlement: Settlement;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly isReady: () => boolean;
}

function createHandlers(parts: Parts): EnvoyHandlers {
  const { config, store, catalog, estimator, settlement, logger, clock, isReady } = parts;
  const directory = new KeyDirectory({ lookUp: (hash) => store.lookUpKey(hash), clock });
  const currentCatalog = () => catalog.current;
  const check = createCheckHandler(
    createAdmitRequest({
      directory,
      store,
      protocols: PROTOCOLS,
      createRequestId: () => createId("req", clock.nowMs()),
      isReady,
      logger,
    }),
  );
  const budget = new BodyBudget({
    maxBodyBytes: config.limits.maxBodyBytes,
    maxHeldBytes: config.limits.maxBufferedBytes,
  });
  const answers = createAnswers({
    budget,
    catalog: currentCatalog,
    store,
    countTokens: createCountTokens({ catalog: currentCatalog, estimator }),
  });
  const exchangeServices = {
    catalog: currentCatalog,
    settlement,
    budget,
    nowMs: () => clock.nowMs(),
    logger,
  };
  const streamServices = {
    createExchange: (...[context, protocol]: [Exchange["context"], Exchange["protocol"]]) =>
      new Exchange(context, protocol, exchangeServices),
    answers,
    protocols: PROTOCOLS,
    logger,
  };
  return {
    check,
    openProcess: (call) => new RequestStream(call, streamServices),
    isServing: isReady,
  };
}

/** "unix:/run/gateway-0.sock" or "127.0.0.1:9000". */
function parseAddress(address: string): { socketPath: string } | { host: string; port: number } {
  if (address.startsWith("unix:")) return { socketPath: address.slice("unix:".length) };
  const colon = address.lastIndexOf(":");
  return { host: address.slice(0, colon), port: Number(address.slice(colon + 1)) };
}
