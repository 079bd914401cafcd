/**
 * `inference-gateway serve`: the supervisor process of a host. Starts the services that run once per host,
 * the workers and the admin process, reports to the launcher (if one started it), and stops in order: workers
 * first, so that the others are available while they settle.
 * Without a configured Redis it refuses to start, because limits would not be shared. It waits for an
 * unreachable Redis: the process runs, is not ready, and becomes ready by itself.
 */
import { mkdirSync } from "node:fs";
import { resolve } from "node:path";
import { type ConfigState, writeConfigState } from "../../shared/config/reload/config-state.ts";
import { ConfigReloader, type ReloaderOptions } from "../../shared/config/reload.ts";
import { fingerprint } from "../../shared/config/reload/watch-files.ts";
import type { Config } from "../../shared/config/schema.ts";
import type { Logger } from "../../shared/host/logger.ts";
import { AdminProcess } from "./admin-process.ts";
import { applyOverrides, type ConfigOverrides, pickOverrides } from "./config-overrides.ts";
import type { SupervisorServices, SupervisorServicesOptions } from "./gateway-parts.ts";
import type { ServeReport } from "./messages.ts";
import { onParentEnd } from "./parent-process.ts";
import { storeDemoKey, readDemoKey, resolveOperatorToken } from "./secret-file.ts";
import { type RunningGateway, writeRunningGateway } from "./running-gateway.ts";
import { lockSockets, requireUnused } from "./socket-lock.ts";
import { StartError } from "./start-error.ts";
import { Supervisor, type WorkerCrash } from "./supervisor.ts";
import { listWorkerAddresses, listWorkerSockets } from "./worker-addresses.ts";
import type { ProcessEntry } from "./process-slot.ts";

export interface ServeOptions {
  readonly configFile: string;
  /** Loads the configuration file, also for each reload. */
  readonly loadConfig: () => Config;
  /** Launcher's decisions that override the file. */
  readonly overrides: ConfigOverrides;
  readonly entry: ProcessEntry;
  readonly startServices: (options: SupervisorServicesOptions) => Promise<SupervisorServices>;
  /** Create a demo organization and key; requested by `up`. */
  readonly demo: boolean;
  /** Time for streams in flight after SIGTERM. */
  readonly drainBoundMs: number;
  readonly log: Logger;
}

/** Used if the launcher is gone together with Envoy: there are no streams to wait for. */
const ORPHAN_DRAIN_MS = 3_000;

/** Starts everything and resolves once it runs; the process ends by signal. Throws if the start fails. */
export async function runServe(options: ServeOptions): Promise<void> {
  try {
    await start(options);
  } catch (error) {
    report({ type: "failed", message: error instanceof Error ? error.message : String(error) });
    throw error;
  }
}

interface Life {
  phase: "starting" | "running" | "ending";
}

/** Processes started by this one. */
interface Children {
  readonly supervisor: Supervisor;
  readonly admin: AdminProcess;
}

async function start(options: ServeOptions): Promise<void> {
  const { log } = options;
  const runningFingerprint = fingerprint([options.configFile]);
  const written = options.loadConfig();
  const config = applyOverrides(written, options.overrides);
  requireRedis(config);
  const sockets = listWorkerSockets(config);
  if (sockets.length > 0) lockSockets(config.sidecar.sockets);
  await requireUnused(sockets);
  mkdirSync(config.dataDir, { recursive: true, mode: 0o700 });
  const note = createNote(options, config.dataDir);
  note({ adminUrl: null });
  // The admin process needs it: report problems before anything runs.
  resolveOperatorToken(config);
  const children = createChildren(config, options);
  let services: SupervisorServices | null = null;
  const reloader = createReloader(options, { running: written, runningFingerprint }, (catalog) => {
    children.supervisor.replaceCatalog(catalog);
    children.admin.replaceCatalog(catalog);
  });
  process.on("SIGHUP", () => reloader.reload());
  const life: Life = { phase: "starting" };
  const end = createEnd(() => {
    kill(children);
    process.exit(1);
  });
  onEndSignals((boundMs) => {
    life.phase = "ending";
    reloader.close();
    end(async () => {
      const orderly = await stop(children, services, boundMs, log);
      writeConfigState(config.dataDir, null);
      note(null);
      return orderly;
    });
  }, options.drainBoundMs);
  services = await startServices(options, {
    config,
    areWorkersReady: () => life.phase === "running",
    channels: { workers: children.supervisor.channel, admin: children.admin.channel },
    readConfigState: () => reloader.state,
  });
  const adminUrl = await startChildren(children, life);
  if (adminUrl === null) return;
  life.phase = "running";
  services.deliverAlerts(adminUrl);
  note({ adminUrl });
  reloader.start();
  log.info({ ...listPids(children), admin_url: adminUrl }, "ready");
  report({ type: "ready", adminUrl, demoKey: services.demoKey });
}

function createChildren(config: Config, { entry, log }: ServeOptions): Children {
  const addresses = listWorkerAddresses(config);
  const onRestart = (crash: WorkerCrash): void => log.error(crash, "worker exited unexpectedly, restarting");
  return {
    supervisor: new Supervisor({ config, entry, addresses, onRestart }),
    admin: new AdminProcess({
      config,
      entry,
      onRestart: (crash) => log.error(crash, "management API exited unexpectedly, restarting"),
    }),
  };
}

/**
 * Returns the admin process's URL; null if a stop was requested during the start, so that they reported not
 * ready as intended.
 */
async function startChildren(children: Children, life: Life): Promise<string | null> {
  try {
    const [adminUrl] = await Promise.all([children.admin.start(), children.supervisor.start()]);
    if (life.phase !== "ending") return adminUrl;
  } catch (error) {
    if (life.phase !== "ending") {
      kill(children);
      throw error;
    }
  }
  return null;
}

function listPids({ supervisor, admin }: Children) {
  return { workers: supervisor.workerPids, admin: admin.pid };
}

function kill({ supervisor, admin }: Children): void {
  supervisor.kill();
  admin.kill();
}

async function startServices(
  options: ServeOptions,
  known: Omit<SupervisorServicesOptions, "demo" | "onRedisAwaited">,
): Promise<SupervisorServices> {
  const { config } = known;
  const storedKey = options.demo ? readDemoKey(config) : null;
  const services = await options.startServices({
    ...known,
    demo: options.demo ? { storedKey } : null,
    onRedisAwaited(address) {
      options.log.warn({ redis: address }, "waiting for redis");
      report({ type: "redis_awaited", address });
    },
  });
  if (services.demoKey !== null && services.demoKey !== storedKey) storeDemoKey(config, services.demoKey);
  return services;
}

/** Creates the record by which commands on this host find the gateway. */
function createNote({ configFile, overrides, log }: ServeOptions, dataDir: string) {
  return (running: Pick<RunningGateway, "adminUrl"> | null): void => {
    try {
      const file = resolve(configFile);
      writeRunningGateway(
        dataDir,
        running === null ? null : { configFile: file, overrides: pickOverrides(overrides), ...running },
      );
    } catch (error) {
      log.warn({ err: error }, "state file for other commands not written");
    }
  };
}

function requireRedis(config: Config): void {
  if (config.redis !== null) return;
  throw new StartError(
    "`serve` needs a Redis: set `redis.url` (or `redis.cluster`, `redis.sentinels`) in the configuration, " +
      "or use `inference-gateway up`, which starts a private one.",
  );
}

/** Returns a function that ends the process once; a second call runs `abort`. */
function createEnd(abort: () => void): (stopAll: () => Promise<boolean>) => void {
  let ending = false;
  return (stopAll) => {
    if (ending) return abort();
    ending = true;
    stopAll().then(
      (orderly) => process.exit(orderly ? 0 : 1),
      (error: unknown) => {
        process.stderr.write(`serve: ${String(error)}\n`);
        process.exit(1);
      },
    );
  };
}

function onEndSignals(end: (boundMs: number) => void, drainBoundMs: number): void {
  process.on("SIGTERM", () => end(drainBoundMs));
  process.on("SIGINT", () => end(drainBoundMs));
  onParentEnd(() => end(ORPHAN_DRAIN_MS));
}

/** Returns whether everything in flight could be settled. */
async function stop(
  { supervisor, admin }: Children,
  services: SupervisorServices | null,
  boundMs: number,
  log: Logger,
): Promise<boolean> {
  log.info({ bound_ms: boundMs }, "stopping");
  const orderly = await supervisor.stop(boundMs);
  // Interrupting its calls loses nothing important.
  await admin.stop();
  await services?.close();
  log.info({ orderly }, "stopped");
  return orderly;
}

/** Distributes the catalog of a changed file; if the file is rejected, the old catalog stays everywhere. */
function createReloader(
  { configFile, loadConfig, log }: ServeOptions,
  { running, runningFingerprint }: Pick<ReloaderOptions, "running" | "runningFingerprint">,
  onAccepted: (catalog: Config["catalog"]) => void,
): ConfigReloader {
  const store = (state: ConfigState): void => {
    try {
      writeConfigState(running.dataDir, state);
    } catch (error) {
      log.warn({ err: error }, "configuration state for `doctor` not written");
    }
  };
  const reloader = new ConfigReloader({
    file: configFile,
    load: loadConfig,
    running,
    runningFingerprint,
    nowMs: () => Date.now(),
    onAccepted(catalog, state) {
      onAccepted(catalog);
      store(state);
      log.info({ models: catalog.length }, "configuration reloaded");
      warnOfRestart(state, log);
    },
    onRefused({ problems }, state) {
      store(state);
      log.error({ problems }, "changed configuration rejected, previous catalog stays");
      warnOfRestart(state, log);
    },
  });
  store(reloader.state);
  return reloader;
}

function warnOfRestart({ waitingForRestart }: ConfigState, log: Logger): void {
  if (waitingForRestart.length === 0) return;
  log.warn({ fields: waitingForRestart }, "changed fields take effect after a restart");
}

function report(message: ServeReport): void {
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
}
