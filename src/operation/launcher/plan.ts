import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { loadConfig } from "../../shared/config/load.ts";
import type { Config } from "../../shared/config/schema.ts";
import { type DemoUpstream, startDemoUpstream } from "../demo/upstream.ts";
import { ensureEnvoy } from "../setup/envoy.ts";
import { withLock } from "../setup/lock.js";
import { ensureRedisServer } from "../setup/redis.ts";
import { createToolContext } from "../setup/tool-context.ts";
import { applyOverrides, type ConfigOverrides } from "../supervisor/config-overrides.ts";
import { requireUnused } from "../supervisor/socket-lock.ts";
import { listWorkerSockets } from "../supervisor/worker-addresses.ts";
import { type FolderLock, lockData } from "./folder-lock.ts";
import { findFreePort, requireFree } from "./ports.ts";
import { openSocketFolder, type SocketFolder } from "./socket-folder.ts";
import { programFile } from "../../shared/host/package-files.ts";

const CONFIG_TEMPLATE = programFile("operation/launcher/default-gateway.yaml");

/** Returns where `up` stores its data without a configuration. */
function defaultDataDir(workingFolder: string): string {
  return join(workingFolder, "data");
}

/** Values of the built-in configuration. */
interface DefaultConfigValues {
  readonly dataDir: string;
  readonly sockets: string;
  readonly demoUrl: string;
}

/** Writes the built-in configuration into its data directory and returns the file's path. */
function writeDefaultConfig(values: DefaultConfigValues): string {
  const path = join(values.dataDir, "gateway.yaml");
  mkdirSync(values.dataDir, { recursive: true, mode: 0o700 });
  writeFileSync(path, fillTemplate(readFileSync(CONFIG_TEMPLATE, "utf8"), values));
  return path;
}

/** Fills in the values, quoted for YAML. */
export function fillTemplate(template: string, values: DefaultConfigValues): string {
  return template
    .replace("DATA_DIR", () => JSON.stringify(values.dataDir))
    .replace("SOCKETS", () => JSON.stringify(values.sockets))
    .replace("DEMO_URL", () => JSON.stringify(values.demoUrl));
}

/** Decisions made before the first process is started. */
export interface Plan {
  readonly configFile: string;
  /** Running configuration, including `overrides`. */
  readonly config: Config;
  readonly overrides: ConfigOverrides;
  readonly envoyProgram: string;
  /** Null if the configuration names a Redis. */
  readonly redisProgram: string | null;
  readonly logDir: string;
  /** Locks of the data directory and, unless it is temporary, of the socket directory. */
  readonly locks: readonly FolderLock[];
  readonly sockets: SocketFolder;
  /** Set only if the stack starts without a configuration file. */
  readonly demoUpstream: DemoUpstream | null;
}

/**
 * Plans configuration, data directory, ports, sockets and programs, and checks that they can be used. Starts
 * nothing except, without a configuration, the demo upstream in this process.
 *
 * @throws LaunchError, SetupError or ConfigError: one message with instructions.
 */
export async function makePlan(givenFile: string | null): Promise<Plan> {
  const { configFile, lock, demoUpstream, ...opened } = await openConfig(givenFile);
  const loaded = loadConfig(configFile);
  const locks = [lock ?? (await lockData(loaded.dataDir))];
  try {
    const { host, port } = loaded.listen;
    const sockets = opened.sockets ?? (await openSocketFolder(loaded.sidecar.sockets));
    if (sockets.lock !== null) locks.push(sockets.lock);
    await requireFree(listAddresses(loaded));
    const overrides: ConfigOverrides = {
      ...(sockets.isTemporary ? { sockets: sockets.path } : {}),
      ...(loaded.redis === null ? { privateRedis: join(sockets.path, "redis.sock") } : {}),
      ...(port === 0 ? { listenPort: await findFreePort(host) } : {}),
    };
    const programs = await findPrograms(loaded);
    const logDir = join(loaded.dataDir, "logs");
    const config = applyOverrides(loaded, overrides);
    await requireUnused(listSockets(config, overrides));
    return { configFile, config, overrides, ...programs, logDir, locks, sockets, demoUpstream };
  } catch (error) {
    for (const one of locks) one.release();
    await demoUpstream?.close();
    throw error;
  }
}

interface OpenedConfig {
  readonly configFile: string;
  /** Null: the data directory that the configuration names is not locked yet. */
  readonly lock: FolderLock | null;
  readonly sockets: SocketFolder | null;
  readonly demoUpstream: DemoUpstream | null;
}

/** Writes the built-in configuration under the data directory's lock, since another start may use it. */
async function openConfig(givenFile: string | null): Promise<OpenedConfig> {
  if (givenFile !== null) {
    return { configFile: resolve(givenFile), lock: null, sockets: null, demoUpstream: null };
  }
  const dataDir = defaultDataDir(process.cwd());
  const lock = await lockData(dataDir);
  const sockets = await openSocketFolder(join(dataDir, "run"));
  const demoUpstream = await startDemoUpstream({ host: "127.0.0.1", port: 0 });
  const values = { dataDir, sockets: sockets.path, demoUrl: demoUpstream.url };
  return { configFile: writeDefaultConfig(values), lock, sockets, demoUpstream };
}

function listSockets(config: Config, { privateRedis }: ConfigOverrides): readonly string[] {
  return [...listWorkerSockets(config), ...(privateRedis === undefined ? [] : [privateRedis])];
}

function listAddresses(config: Config) {
  const { listen, admin } = config;
  return [
    { field: "listen.port", host: listen.host, port: listen.port },
    { field: "admin.port", host: admin.host, port: admin.port },
    ...(admin.healthPort === null
      ? []
      : [{ field: "admin.health_port", host: admin.host, port: admin.healthPort }]),
  ];
}

/** Finds the programs and installs missing ones; one start per clone at a time. */
async function findPrograms(config: Config): Promise<{ envoyProgram: string; redisProgram: string | null }> {
  const context = createToolContext();
  return withLock(join(context.toolsDir, "setup.lock"), async () => {
    const envoy = await ensureEnvoy(context);
    const redis = config.redis === null ? await ensureRedisServer(context) : null;
    return { envoyProgram: envoy.path, redisProgram: redis?.path ?? null };
  });
}
