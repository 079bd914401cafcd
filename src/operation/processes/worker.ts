/**
 * Entry point of a worker: creates every object on the request path, once and explicitly. Read it from top to
 * bottom for an overview of the gateway; no other code constructs a stage. Services that run once per host
 * are created in host-services.ts and admin-api.ts, and no process loads another's modules.
 */
import { hostname } from "node:os";
import { KeyDirectory } from "../../data-path/auth/key-directory.ts";
import { TokenCallers } from "../../data-path/auth/token-callers.ts";
import { CatalogReference } from "../../data-path/catalog/catalog-reference.ts";
import { createCatalog } from "../../data-path/catalog/catalog.ts";
import { type Clock, systemClock } from "../../shared/time/clock.ts";
import { formatErrorReference } from "../../shared/config/documentation.ts";
import type { Config } from "../../shared/config/schema.ts";
import { setErrorReference } from "../../shared/contract/error-reference.ts";
import { resolveWorkerCount } from "../../shared/config/worker-count.ts";
import { readEntries } from "../../envoy/access-log-entries.ts";
import { createBlockRecorder } from "../../envoy/record-block.ts";
import { createCheckHandler, type WorkerPlace } from "../../envoy/check.ts";
import { createBodyLimits } from "../../envoy/bootstrap/body-limits.ts";
import { RequestStream } from "../../envoy/request-stream.ts";
import { SilenceWatch } from "../../envoy/silence-watch.ts";
import type { StreamServices } from "../../envoy/stream-services.ts";
import { createEnvoyServer, parseAddress } from "../../envoy/server.ts";
import type { EnvoyHandlers, EnvoyServer } from "../../envoy/transport/contract.ts";
import { DeferredAdmissions } from "../../data-path/exchange/admission/deferred-admissions.ts";
import {
  type AdmissionServices,
  createAdmitAgain,
  createAdmitRequest,
} from "../../data-path/exchange/admission/admit-request.ts";
import { createLocalEndpoints } from "../../data-path/exchange/admission/local-endpoints.ts";
import { BodyBudget } from "../../data-path/exchange/bodies/body-budget.ts";
import { CountExchange } from "../../data-path/exchange/count-exchange.ts";
import { Exchange } from "../../data-path/exchange/exchange.ts";
import { ReachedUpstreams } from "../../data-path/exchange/ends/reached-upstreams.ts";
import { ReportedEnds } from "../../data-path/exchange/ends/reported-ends.ts";
import { createGraceAdmission } from "../../data-path/grace/grace-admission.ts";
import { GraceOutage } from "../../data-path/grace/grace-outage.ts";
import { GraceSpend } from "../../data-path/grace/grace-spend.ts";
import { GraceWorkers } from "../../data-path/grace/grace-workers.ts";
import type { Logger } from "../../shared/host/logger.ts";
import type { DashboardAddress } from "../../shared/contract/pages.ts";
import { RequestLog, requestLogFolder } from "../../data-path/request-log/request-log.ts";
import { Settlement } from "../../data-path/settlement/settlement.ts";
import { createGeneration } from "../../data-path/spool/files.ts";
import { Spool } from "../../data-path/spool/spool.ts";
import { TokenEstimator } from "../../data-path/settlement/tokens/token-estimator.ts";
import { Tokenizer } from "../../data-path/settlement/tokens/tokenizer.ts";
import { createId } from "../../data-path/store/ids.ts";
import { openStoreInBackground } from "../../data-path/store/open-store.ts";
import type { StoreOfBoth } from "../../data-path/store/redis-store.ts";
import type { Store } from "../../shared/stored/store.ts";
import type { Admit } from "../../shared/stored/admission.ts";
import type { RunningProcess, WorkerOptions } from "../supervisor/gateway-parts.ts";
import { createWorkerTelemetry } from "../../shared/telemetry/gateway-telemetry.ts";
import { limitLog } from "../../shared/telemetry/limit-log.ts";
import { createLogger } from "../../shared/telemetry/logger.ts";
import { logProcessWarnings } from "../../shared/telemetry/process-warnings.ts";
import type { RequestMeter } from "../../shared/telemetry/request-meter.ts";
import type { WorkerGauges } from "../../shared/telemetry/worker-telemetry.ts";
import { PROTOCOLS } from "../../data-path/translation/protocols.ts";

/** Size of a gRPC message in addition to the largest body: headers, field tags. */
const MESSAGE_OVERHEAD_BYTES = 1024 * 1024;

/**
 * Starts one worker; resolves when it listens. Without Redis it is not ready, and becomes ready by itself,
 * when it also sends its spool. Rejects if Redis has data of a newer version or rejects the login.
 */
export async function startWorker(options: WorkerOptions): Promise<RunningProcess> {
  const { config, index, address } = options;
  const logger = createLogger(`worker-${index}`);
  logProcessWarnings(logger);
  setErrorReference(formatErrorReference(config));
  const telemetry = createWorkerTelemetry(config, options);
  const spend = new GraceSpend();
  const opened = await openStoreInBackground(config, logger, {
    redisMeter: telemetry.redisMeter,
    ownSpend: spend,
  });
  const { store, patient, close, isOpen } = opened;
  const catalog = new CatalogReference(createCatalog(config));
  const estimator = new TokenEstimator(new Tokenizer({ logger }));
  const grace = createGrace(config, { index, store, patient, spend, logger });
  const { outage, spool, workers } = grace;
  const dir = requestLogFolder(config);
  const requestLog = new RequestLog({ dir, writer: `worker-${index}`, clock: systemClock, logger });
  const shared = { store, patient, estimator, clock: systemClock, logger, outage, spend, spool };
  const settlement = new Settlement({
    ...shared,
    requestLog,
    workerCount: () => workers.count,
    dashboard: config.dashboard,
  });
  const { maxBodyBytes, maxBufferedBytes } = config.limits;
  const { maxRequestBytes: maxUpstreamBytes } = createBodyLimits(maxBodyBytes);
  const budget = new BodyBudget({ maxBodyBytes, maxUpstreamBytes, maxBufferedBytes });
  let draining = false;
  const handlers = createHandlers({
    patient,
    admit: grace.createAdmit(settlement),
    catalog,
    estimator,
    settlement,
    logger,
    clock: systemClock,
    budget,
    maxMessageBytes: maxMessageBytesOf(config),
    reached: new ReachedUpstreams(options.channel),
    ends: new ReportedEnds(options.channel, { isOnlyWorker: isOnlyWorker(config) }),
    meter: telemetry.meter,
    isServing: () => isOpen() && !draining,
    isGraceOver: () => outage.isGraceOver,
    place: { socket: socketOf(address), isOnlyWorker: isOnlyWorker(config) },
    channel: options.channel,
    dashboard: config.dashboard,
    tokenProviders: config.jwt.providers,
  });
  const server = await createServer(config, address, handlers, logger);
  await spool.start();
  workers.start();
  settlement.start();
  await server.listen();
  telemetry.start(() => readGauges({ settlement, budget, grace, store, hasRedisAnswered: isOpen() }));
  return {
    async drain(boundMs) {
      draining = true;
      try {
        await settleAll(server, settlement, boundMs);
      } finally {
        await workers.stop();
        await server.close();
        await telemetry.stop();
        close();
      }
    },
    replaceCatalog(changed) {
      catalog.replace(createCatalog({ ...config, catalog: changed }));
    },
  };
}

function readGauges(parts: {
  readonly settlement: Settlement;
  readonly budget: BodyBudget;
  readonly grace: ReturnType<typeof createGrace>;
  readonly store: Pick<Store, "spendFalls" | "uncappedSessions">;
  readonly hasRedisAnswered: boolean;
}): WorkerGauges {
  const { settlement, budget, grace, store, hasRedisAnswered } = parts;
  return {
    ...settlement.figures,
    bufferedBytes: budget.bufferedBytes,
    isRedisOutOfReach: grace.outage.isOut || !hasRedisAnswered,
    spendFalls: store.spendFalls(),
    uncappedSessions: store.uncappedSessions(),
    spool: grace.spool.report,
  };
}

/** Waits until requests in flight have ended and are settled. Rejects if that takes longer than `boundMs`. */
async function settleAll(server: EnvoyServer, settlement: Settlement, boundMs: number): Promise<void> {
  const end = systemClock.monotonicMs() + boundMs;
  await server.drain(boundMs);
  await settlement.stop(Math.max(0, end - systemClock.monotonicMs()));
}

/** On a TCP port Envoy's cluster may have further hosts; a Unix socket belongs to one process. */
function isOnlyWorker({ sidecar }: Config): boolean {
  return sidecar.tcp === null && resolveWorkerCount(sidecar.workers) === 1;
}

/** Returns the path of a worker's Unix socket; null on TCP. */
function socketOf(address: string): string | null {
  const parsed = parseAddress(address);
  return "socketPath" in parsed ? parsed.socketPath : null;
}

/** Returns the largest message from Envoy, and the largest body: the edge's limit plus overhead. */
function maxMessageBytesOf({ limits }: Config): number {
  return createBodyLimits(limits.maxBodyBytes).maxRequestBytes + MESSAGE_OVERHEAD_BYTES;
}

function createServer(
  config: Config,
  address: string,
  handlers: EnvoyHandlers,
  logger: Logger,
): Promise<EnvoyServer> {
  return createEnvoyServer({
    transport: config.sidecar.transport,
    address: parseAddress(address),
    handlers,
    maxMessageBytes: maxMessageBytesOf(config),
    tls: config.sidecar.tls,
    onCertificateProblem: (error) =>
      logger.warn({ err: error }, "renewed certificates unusable, previous ones stay"),
  });
}

/** Creates the parts that serve requests and keep charges while Redis is unreachable. */
function createGrace(
  config: Config,
  {
    index,
    store,
    patient,
    spend,
    logger,
  }: StoreOfBoth & { index: number; spend: GraceSpend; logger: Logger },
) {
  const { graceSeconds, spool: dir, spoolMaxBytes } = config.settlement;
  const workersOfHost = resolveWorkerCount(config.sidecar.workers);
  const outage = new GraceOutage({ clock: systemClock, graceMs: graceSeconds * 1000, logger });
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
  });
  const workerId = `${hostname()}-${index}-${generation}`;
  const workers = new GraceWorkers({ store, workerId, workersOfHost, outage });
  const createAdmit = (settlement: Settlement) =>
    createGraceAdmission({
      admit: (input) => store.admit(input),
      admitPatiently: (input) => patient.admit(input),
      outage,
      spend,
      clock: systemClock,
      workerCount: () => workers.count,
      countInFlight: (keyId) => settlement.countOpen(keyId),
      hasUnsentCharges: () => !spool.isEmpty,
      abandon: (request) =>
        request.metered && settlement.abandon({ caller: request, identity: request, limits: {} }),
    });
  return { outage, spool, workers, createAdmit };
}

interface Parts {
  /** Store for requests without a fallback. */
  readonly patient: Store;
  /** Admits by Redis, or by cached data during an outage. */
  readonly admit: Admit;
  readonly catalog: CatalogReference;
  readonly estimator: TokenEstimator;
  readonly settlement: Settlement;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly budget: BodyBudget;
  readonly maxMessageBytes: number;
  readonly reached: ReachedUpstreams;
  readonly ends: ReportedEnds;
  readonly meter: RequestMeter;
  /** Returns whether Envoy should send requests here; also after the grace period if this worker reports the reason. */
  readonly isServing: () => boolean;
  /** Returns whether every request is rejected because Redis is unreachable. */
  readonly isGraceOver: () => boolean;
  readonly place: WorkerPlace;
  readonly channel: WorkerOptions["channel"];
  readonly dashboard: DashboardAddress;
  readonly tokenProviders: Config["jwt"]["providers"];
}

function createHandlers(parts: Parts): EnvoyHandlers {
  const { patient, admit, catalog, estimator, settlement, logger, clock, budget } = parts;
  const { reached, ends, meter, isServing } = parts;
  const directory = new KeyDirectory({ lookUp: (hash) => patient.lookUpKey(hash), clock });
  const { tokenProviders } = parts;
  const tokenCallers =
    tokenProviders.length === 0
      ? null
      : new TokenCallers({ providers: tokenProviders, store: patient, clock });
  const currentCatalog = () => catalog.current;
  // During an outage every request fails in the same way.
  const errorLog = limitLog(logger);
  const deferred = new DeferredAdmissions({ isServing, clock });
  const localEndpoints = createLocalEndpoints({
    catalog: currentCatalog,
    protocols: PROTOCOLS,
    store: patient,
    meter,
  });
  const admission: AdmissionServices = {
    directory,
    tokenCallers,
    admit,
    meanOutput: (caller) => settlement.meanOutput(caller),
    abandon: (admission) => settlement.abandon(admission),
    protocols: PROTOCOLS,
    createRequestId: () => createId("req", clock.nowMs()),
    isReady: () => isServing() && !parts.isGraceOver(),
    logger: errorLog,
    meter,
    deferred,
    localEndpoints,
    checkBody: (bytes) => budget.checkBody(bytes),
    dashboard: parts.dashboard,
  };
  const exchangeServices = {
    catalog: currentCatalog,
    protocols: PROTOCOLS,
    settlement,
    budget,
    reached,
    ends,
    nowMs: () => clock.nowMs(),
    logger,
    meter,
  };
  const countServices = {
    catalog: currentCatalog,
    protocols: PROTOCOLS,
    estimator,
    budget,
    reached,
    ends,
    logger,
    meter,
  };
  const streamServices: StreamServices = {
    createExchange: (options) => new Exchange(options, exchangeServices),
    createCount: (admission) => new CountExchange(admission, countServices),
    deferred,
    admitAgain: createAdmitAgain(admission),
    protocols: PROTOCOLS,
    collecting: { budget, maxBytes: parts.maxMessageBytes },
    silence: new SilenceWatch(),
    onUnadmitted: () => meter.unadmitted(),
    logger: { ...errorLog, warn: (fields: object, message: string) => logger.warn(fields, message) },
  };
  const recordBlock = createBlockRecorder(parts.channel, {
    ...streamServices,
    recordBlockedResponse: (...response) => settlement.recordBlockedResponse(...response),
  });
  return {
    check: createCheckHandler(createAdmitRequest(admission), parts.place),
    openProcess: (call) => new RequestStream(call, streamServices),
    log(message) {
      for (const { requestId, end, block } of readEntries(message)) {
        const isEndingOnWorker = ends.report(requestId, end);
        if (block !== null) recordBlock(block, isEndingOnWorker);
      }
    },
    isServing,
  };
}
