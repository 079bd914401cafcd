/**
 * The connection to Redis: one server (TCP, TLS, Unix socket), a Cluster or Sentinel. What it promises the rest:
 * a command is sent at most once. There is no queue while the connection is away, nothing is sent again after it was
 * lost, and a command without an answer fails after 250 ms, or 1.5 s where the caller has nothing to fall back on (of
 * which this process got to run: see fair-timeout.ts); whether it was executed is then unknown.
 */
import { Cluster, Redis } from "ioredis";
import { pause } from "../../../shared/event-loop/wait.ts";
import { timeOutFairly, waitLonger } from "../ioredis/fair-timeout.ts";
import { keepStringMethodsFast } from "../ioredis/fast-strings.ts";
import { createRedisTls, type RedisTlsFiles, type RedisTlsOptions } from "./redis-tls.ts";
import { addScripts } from "../ioredis/scripts.ts";
import { writeOncePerTurn } from "../ioredis/write-once-per-turn.ts";

/** A wait that is shorter than ext_authz's, so that a lost answer still leaves time for the grace path. */
const COMMAND_TIMEOUT_MS = 250;
/** Nearly as long as ext_authz waits (2 s): the rest is for the way to the worker and back. */
const PATIENT_TIMEOUT_MS = 1_500;
const CONNECT_TIMEOUT_MS = 2000;
/** A connection that answers nothing for so long is given up: its other end may be gone without a word. */
const SILENT_CONNECTION_MS = 5_000;
const READY_POLL_MS = 10;
const KEEP_ALIVE_MS = 10_000;
const MAX_RECONNECT_DELAY_MS = 1000;
/** How often a Cluster client reads who serves what: the bound on how long a failover goes unnoticed. */
const SLOTS_REFRESH_MS = 1000;
const REDIS_PORT = 6379;
const SENTINEL_PORT = 26_379;

/** Where Redis is. */
export type RedisAddress =
  /** `redis://`, `rediss://` (database number behind it), `unix:///run/redis.sock` or the path of a Unix socket. */
  | { readonly url: string }
  /** URLs of some of the nodes; the rest is learned from them. */
  | { readonly cluster: readonly string[] }
  /** URLs of the Sentinels, and the name that they know the master by. */
  | { readonly sentinels: readonly string[]; readonly name: string };

export type RedisConnectionOptions = RedisAddress & {
  readonly username?: string | null;
  readonly password?: string | null;
  readonly sentinelPassword?: string | null;
  /** PEM files for `rediss://` servers, read anew for each connection. */
  readonly tlsFiles?: RedisTlsFiles | null;
  /** Milliseconds; 250 when left out. For commands beside the path, like scans. */
  readonly commandTimeoutMs?: number;
  /** Called for errors of the connection, which reconnects by itself. */
  readonly onError: (error: Error) => void;
};

export type RedisClient = Redis | Cluster;

/** A client that connects in the background and goes on doing so until `disconnect()`. */
export function createRedisClient(options: RedisConnectionOptions): RedisClient {
  keepStringMethodsFast();
  const client = connect(options);
  addScripts(client);
  client.on("error", options.onError);
  return client;
}

/** The same connection for callers that have nothing to fall back on: its commands wait as long as Envoy's call allows. */
export function createPatientClient(client: RedisClient): RedisClient {
  const patient = waitLonger(client, PATIENT_TIMEOUT_MS);
  addScripts(patient);
  return patient;
}

/**
 * Waits until commands can be sent, in a Cluster to every master.
 * @throws Error naming the last problem when that is not so after `timeoutMs`.
 */
export async function waitUntilReady(client: RedisClient, timeoutMs: number): Promise<void> {
  let problem: Error | null = null;
  const remember = (error: Error): void => {
    problem = error;
  };
  client.on("error", remember);
  try {
    const deadlineMs = performance.now() + timeoutMs;
    while (!isReady(client)) {
      if (performance.now() >= deadlineMs) throw createNotReadyError(timeoutMs, problem);
      await pause(READY_POLL_MS);
    }
  } finally {
    client.off("error", remember);
  }
}

/** Redis is there and does not let this user in: of no use to wait for. Looks at an error's causes too. */
export function isLoginRefused(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return /^(?:WRONGPASS|NOAUTH|ERR invalid password)/.test(error.message) || isLoginRefused(error.cause);
}

function isReady(client: RedisClient): boolean {
  if (client.status !== "ready") return false;
  if (!(client instanceof Cluster)) return true;
  const masters = client.nodes("master");
  return masters.length > 0 && masters.every(({ status }) => status === "ready");
}

function createNotReadyError(timeoutMs: number, cause: Error | null): Error {
  return new Error(`Redis was not ready after ${timeoutMs} ms: ${cause?.message ?? "no answer"}`, { cause });
}

function connect(options: RedisConnectionOptions): RedisClient {
  if ("cluster" in options) return connectCluster(options.cluster, options);
  const client = connectServer(options);
  tuneConnection(client, options);
  return client;
}

/** What each connection to a server gets, the only one and each of a Cluster. */
function tuneConnection(
  client: Redis,
  { commandTimeoutMs = COMMAND_TIMEOUT_MS }: RedisConnectionOptions,
): void {
  writeOncePerTurn(client);
  timeOutFairly(client, commandTimeoutMs);
}

function connectServer(
  options: Exclude<RedisConnectionOptions, { readonly cluster: readonly string[] }>,
): Redis {
  const single = { ...commonOptions(options), maxRetriesPerRequest: 0, retryStrategy };
  if ("sentinels" in options) {
    const sentinels = options.sentinels.map((url) => parseServer(url, SENTINEL_PORT));
    const tls = tlsOptions(options.sentinels[0], options);
    return new Redis({
      ...single,
      ...(tls === null ? {} : { tls, sentinelTLS: tls, enableTLSForSentinelMode: true }),
      ...(options.sentinelPassword ? { sentinelPassword: options.sentinelPassword } : {}),
      sentinels,
      name: options.name,
      sentinelCommandTimeout: CONNECT_TIMEOUT_MS,
      sentinelRetryStrategy: retryStrategy,
    });
  }
  const path = parseSocketPath(options.url);
  if (path !== null) return new Redis({ ...single, path });
  const tls = tlsOptions(options.url, options);
  const database = Number(new URL(options.url).pathname.slice(1));
  return new Redis({
    ...single,
    ...parseServer(options.url, REDIS_PORT),
    ...(tls === null ? {} : { tls }),
    ...(database === 0 ? {} : { db: database }),
  });
}

function commonOptions(options: RedisConnectionOptions) {
  return {
    ...(options.username ? { username: options.username } : {}),
    ...(options.password ? { password: options.password } : {}),
    // RESP2: the same replies everywhere, behind proxies too.
    protocol: 2 as const,
    connectionName: "inference-gateway",
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    connectTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: Math.max(SILENT_CONNECTION_MS, 2 * (options.commandTimeoutMs ?? COMMAND_TIMEOUT_MS)),
    keepAlive: KEEP_ALIVE_MS,
    // A former master answers READONLY after a failover behind one address: connect anew, but send nothing again.
    reconnectOnError: (error: Error) => error.message.startsWith("READONLY"),
  } as const;
}

function connectCluster(urls: readonly string[], options: RedisConnectionOptions): Cluster {
  const nodeOptions = commonOptions(options);
  const tls = tlsOptions(urls[0], options);
  const client = new Cluster(
    urls.map((url) => parseServer(url, REDIS_PORT)),
    {
      redisOptions: tls === null ? nodeOptions : { ...nodeOptions, tls },
      // Certificates name hosts, not addresses.
      ...(tls === null ? {} : { dnsLookup: (host, callback) => callback(null, host) }),
      enableOfflineQueue: false,
      // It asks a node that may not be connected yet, is refused then, and makes all connections anew, which a busy machine
      // can go on with for long. `waitUntilReady` looks at the nodes themselves; a cluster that is down says so to each
      // command.
      enableReadyCheck: false,
      clusterRetryStrategy: retryStrategy,
      clusterNodeRetryStrategy: retryStrategy,
      slotsRefreshInterval: SLOTS_REFRESH_MS,
      slotsRefreshTimeout: CONNECT_TIMEOUT_MS,
      // 0: after a lost connection nothing is sent again, it may have been executed. Redirections (MOVED, ASK, TRYAGAIN)
      // are answered before anything runs and are followed.
      retryDelayOnFailover: 0,
      retryDelayOnClusterDown: 0,
      maxRedirections: 4,
    },
  );
  client.on("+node", (node: Redis) => {
    tuneConnection(node, options);
    // Nodes connect with their first command otherwise, and those right behind it are refused.
    if (node.status === "wait") node.connect().catch(options.onError);
  });
  return client;
}

/** Milliseconds: 50, 100, 200 … up to a second, with a tenth of jitter so that workers do not come back in step. */
function retryStrategy(attempt: number): number {
  const delay = Math.min(MAX_RECONNECT_DELAY_MS, 50 * 2 ** Math.min(attempt - 1, 10));
  return Math.round(delay * (0.9 + Math.random() * 0.2));
}

function tlsOptions(url: string | undefined, { tlsFiles }: RedisConnectionOptions): RedisTlsOptions | null {
  if (url?.startsWith("rediss:") !== true) return null;
  return tlsFiles ? createRedisTls(tlsFiles) : {};
}

function parseSocketPath(url: string): string | null {
  if (url.startsWith("/")) return url;
  return url.startsWith("unix:") ? new URL(url).pathname : null;
}

function parseServer(text: string, defaultPort: number): { host: string; port: number } {
  const url = new URL(text);
  // An IPv6 address has brackets in a URL.
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  return { host, port: url.port === "" ? defaultPort : Number(url.port) };
}
