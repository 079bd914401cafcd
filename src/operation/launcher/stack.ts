/**
 * Processes of a stack on one host, in order of dependency: Redis, the gateway (`serve` with its workers),
 * Envoy. They stop in reverse order, so that requests in flight can end and be charged.
 * A child that ends unexpectedly ends the stack: silent restarts would hide the problem from the user.
 * (`serve` itself restarts its workers.) No child outlives this process: see guarded-process.ts for Redis and
 * Envoy; `serve` and its workers notice that their channel closes.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { watchUpstreamSecrets } from "../../envoy/bootstrap/upstream-secrets.ts";
import { accessLogIn, drainEnvoy, reopenAccessLog, secretsFolder, startEnvoy } from "./envoy-process.ts";
import { guardOf } from "./guarded-process.ts";
import { LogBound } from "./log-bound.ts";
import type { ManagedProcess } from "./managed-process.ts";
import type { Plan } from "./plan.ts";
import { startPrivateRedis, waitForRedis } from "./private-redis.ts";
import { waitUntilReady } from "./readiness.ts";
import { type ServeReady, startServe, waitForServe } from "./serve-process.ts";
import { formatLocalUrl } from "../../shared/host/local-url.ts";
import { Secret } from "../../shared/config/secret.ts";
import type { Config } from "../../shared/config/schema.ts";

/** Time for requests in flight after Ctrl-C: a person is waiting. */
const DRAIN_MS = 5_000;
const ENVOY_STOP_MS = 3_000;
/** `serve` ends within its own bound plus the time for its workers' end. */
const SERVE_STOP_MS = DRAIN_MS + 8_000;
const REDIS_STOP_MS = 15_000;

export class Stack {
  readonly baseUrl: string;
  readonly #plan: Plan;
  readonly #entry: string;
  #redis: ManagedProcess | null = null;
  #serve: ManagedProcess | null = null;
  #envoy: ManagedProcess | null = null;
  #credentials: { close: () => void } | null = null;
  #logs: LogBound | null = null;

  /** `entry`: program for starting `serve` and the workers. */
  constructor(plan: Plan, entry: string) {
    this.#plan = plan;
    this.#entry = entry;
    const { host, port, tls } = plan.config.listen;
    this.baseUrl = formatLocalUrl(host, port, tls === null ? "http" : "https");
  }

  /**
   * Starts everything and resolves when the first request would be served.
   * @throws LaunchError naming the failed part, with its last output. Call `kill` to end the others.
   */
  async start(): Promise<ServeReady> {
    const { config, logDir, envoyProgram } = this.#plan;
    await this.#startRedis();
    this.#serve = this.#startServe();
    this.#note();
    const ready = await waitForServe(this.#serve);
    const env = environmentFor("envoy", config, process.env);
    this.#envoy = await startEnvoy({ program: envoyProgram, config, logDir, env });
    this.#credentials = watchUpstreamSecrets(
      config,
      secretsFolder(config.sidecar.sockets),
      reportCredentials,
    );
    this.#logs = this.#boundLogs();
    this.#note();
    await waitUntilReady(this.baseUrl, this.#processes);
    return ready;
  }

  /** Resolves with the first process that ends; only meaningful until `stop` is called. */
  async waitForCrash(): Promise<{ process: ManagedProcess; how: string }> {
    return Promise.race(this.#processes.map(async (process) => ({ process, how: await process.ended })));
  }

  /** Reloads the catalog. */
  reload(): void {
    this.#serve?.child.kill("SIGHUP");
  }

  /** Stops in order: new connections, requests in flight, Envoy, the gateway, Redis. */
  async stop(): Promise<void> {
    this.#credentials?.close();
    this.#logs?.stop();
    if (this.#envoy?.hasEnded === false) await drainEnvoy(this.#plan.config.sidecar.sockets, DRAIN_MS);
    await this.#envoy?.stop(ENVOY_STOP_MS);
    await this.#serve?.stop(SERVE_STOP_MS);
    await this.#redis?.stop(REDIS_STOP_MS);
    await this.#cleanUp();
    for (const lock of this.#plan.locks) lock.release();
  }

  /** Kills everything. The locks stay: the next start waits for processes that are still ending. */
  kill(): void {
    this.#credentials?.close();
    for (const process of this.#processes) process.kill();
    rmSync(secretsFolder(this.#plan.config.sidecar.sockets), { recursive: true, force: true });
    this.#plan.sockets.remove();
  }

  get #processes(): readonly ManagedProcess[] {
    return [this.#redis, this.#serve, this.#envoy].filter((process) => process !== null);
  }

  #note(): void {
    for (const lock of this.#plan.locks) lock.noteProcesses(this.#processes);
  }

  async #startRedis(): Promise<void> {
    const { config, overrides, redisProgram, logDir } = this.#plan;
    const { privateRedis } = overrides;
    if (redisProgram === null || privateRedis === undefined) return;
    this.#redis = await startPrivateRedis({
      program: redisProgram,
      socket: privateRedis,
      dataDir: config.dataDir,
      logPath: join(logDir, "redis.log"),
      env: environmentFor("redis", config, process.env),
    });
    this.#note();
    await waitForRedis(this.#redis, privateRedis);
  }

  #startServe(): ManagedProcess {
    const { config, configFile, overrides, logDir } = this.#plan;
    return startServe({
      entry: this.#entry,
      configFile,
      overrides,
      drainSeconds: DRAIN_MS / 1000,
      logPath: join(logDir, "gateway.log"),
      env: environmentFor("serve", config, process.env),
      redisGuard: this.#redis === null ? null : guardOf(this.#redis.child),
    });
  }

  #boundLogs(): LogBound {
    const { config, logDir } = this.#plan;
    const bound = new LogBound({
      accessLog: accessLogIn(logDir),
      reopen: () => reopenAccessLog(config.sidecar.sockets),
      otherLogs: this.#processes.map(({ log }) => log.path),
      folder: config.dataDir,
      spoolMaxBytes: config.settlement.spoolMaxBytes,
      notice: (line) => void process.stderr.write(`${line}\n`),
    });
    bound.start();
    return bound;
  }

  async #cleanUp(): Promise<void> {
    const { config, demoUpstream, sockets } = this.#plan;
    await demoUpstream?.close();
    rmSync(secretsFolder(config.sidecar.sockets), { recursive: true, force: true });
    sockets.remove();
  }
}

/** Reports on stderr, like all launcher output except its line for programs. */
function reportCredentials(
  outcome: { readonly written: readonly string[] } | { readonly problem: unknown },
): void {
  const text =
    "problem" in outcome
      ? `a renewed credential can't be read, the previous one stays: ${String(outcome.problem)}`
      : `renewed credential: ${outcome.written.join(", ")}`;
  process.stderr.write(`${text}\n`);
}

/**
 * Returns the environment for a child, without variables of secrets that the child must not have: Redis and
 * Envoy need none, `serve` needs all but the upstreams' credentials, which only Envoy gets, as files.
 */
export function environmentFor(
  child: "redis" | "envoy" | "serve",
  config: Config,
  env: NodeJS.ProcessEnv,
): NodeJS.ProcessEnv {
  const upstreamOnly = secretVariables(config.upstreams);
  const own = secretVariables({ ...config, upstreams: null });
  const hidden =
    child === "serve"
      ? new Set([...upstreamOnly].filter((name) => !own.has(name)))
      : new Set([...upstreamOnly, ...own]);
  return Object.fromEntries(Object.entries(env).filter(([name]) => !hidden.has(name)));
}

function secretVariables(value: unknown): Set<string> {
  if (value instanceof Secret) return new Set("env" in value.reference ? [value.reference.env] : []);
  if (typeof value !== "object" || value === null) return new Set();
  return new Set(Object.values(value).flatMap((member) => [...secretVariables(member)]));
}
