/**
 * Connection to Redis: one server (TCP, TLS, Unix socket), a Cluster or Sentinel. Guarantees that a command
 * is sent at most once: there is no queue while disconnected and no resend after a lost connection. A command
 * without a reply fails after 250 ms, or 4 s for callers without a fallback (only counting time in which
 * this process could run: see fair-timeout.ts); whether it was executed is then unknown.
 */
import { Cluster, Redis } from "ioredis";
import { pause } from "../../../shared/event-loop/wait.ts";
import { timeOutFairly, waitLonger } from "../ioredis/fair-timeout.ts";
import { makeStringMethodsFast } from "../ioredis/fast-strings.ts";
import { createRedisTls, type RedisTlsFiles, type RedisTlsOptions } from "./redis-tls.ts";
import { addScripts } from "../ioredis/scripts.ts";
import { writeOncePerTurn } from "../ioredis/write-once-per-turn.ts";

/** Shorter than ext_authz's timeout, so that a lost reply leaves time for the grace path. */
const COMMAND_TIMEOUT_MS = 250;
/** Shorter than ext_authz's timeout of 5 s, so that the worker's answer comes first: in a burst its callers queue. */
const PATIENT_TIMEOUT_MS = 4_000;
const CONNECT_TIMEOUT_MS = 2000;
/** A connection without any reply for this long is closed: its peer may have disappeared. */
const SILENT_CONNECTION_MS = 5_000;
const READY_POLL_MS = 10;
const KEEP_ALIVE_MS = 10_000;
const MAX_RECONNECT_DELAY_MS = 1000;
/** Interval at which a Cluster client reads the slot map: bounds how long a failover goes unnoticed. */
const SLOTS_REFRESH_MS = 1000;
const REDIS_PORT = 6379;
const SENTINEL_PORT = 26_379;

export type RedisAddress =
  /**
   * `redis://` or `rediss://` (optionally with a database number), `unix:///run/redis.sock` or the path of a
   * Unix socket.
   */
  | { readonly url: string }
  /** URLs of some nodes; the other nodes are discovered. */
  | { readonly cluster: readonly string[] }
  /** URLs of the Sentinels, and their name of the primary. */
  | { readonly sentinels: readonly string[]; readonly name: string };

export type RedisConnectionOptions = RedisAddress & {
  readonly username?: string | null;
  readonly password?: string | null;
  readonly sentinelPassword?: string | null;
  /** PEM files for `rediss://` servers, read again for each connection. */
  readonly tlsFiles?: RedisTlsFiles | null;
  /** Milliseconds. Default: 250. Longer for commands off the request path, such as scans. */
  readonly commandTimeoutMs?: number;
  /** Called for errors of the connection, which reconnects by itself. */
  readonly onError: (error: Error) => void;
};

export type RedisClient = Redis | Cluster;

/** Creates a client that connects in the background and reconnects until `disconnect()`. */
export function createRedisClient(options: RedisConnectionOptions): RedisClient {
  makeStringMethodsFast();
  const client = connect(options);
  addScripts(client);
  client.on("error", options.onError);
  return client;
}

/** Returns a view of the connection for callers without a fallback: commands wait as long as Envoy's call allows. */
export function createPatientClient(client: RedisClient): RedisClient {
  const patient = waitLonger(client, PATIENT_TIMEOUT_MS);
  addScripts(patient);
  return patient;
}

/**
 * Waits until commands can be sent, in a Cluster to every primary.
 * @throws Error with the last problem if that takes longer than `timeoutMs`.
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

/** Returns whether Redis rejects the login, so that waiting is useless. Also examines an error's causes. */
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

/** Applies our settings to each connection to a server, single or of a Cluster. */
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
    // RESP2: the same replies everywhere, also behind proxies.
    protocol: 2 as const,
    connectionName: "inference-gateway",
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    connectTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: Math.max(SILENT_CONNECTION_MS, 2 * (options.commandTimeoutMs ?? COMMAND_TIMEOUT_MS)),
    keepAlive: KEEP_ALIVE_MS,
    // After a failover behind one address, the previous primary replies READONLY: reconnect, but resend
    // nothing.
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
      // The check queries a node that may not be connected yet, fails, and reconnects everything, which a
      // busy host can repeat for long. `waitUntilReady` checks the nodes itself; a cluster that is down
      // reports so to each command.
      enableReadyCheck: false,
      clusterRetryStrategy: retryStrategy,
      clusterNodeRetryStrategy: retryStrategy,
      slotsRefreshInterval: SLOTS_REFRESH_MS,
      slotsRefreshTimeout: CONNECT_TIMEOUT_MS,
      // 0: resend nothing after a lost connection, since it may have been executed. Redirections (MOVED, ASK,
      // TRYAGAIN) come before execution and are followed.
      retryDelayOnFailover: 0,
      retryDelayOnClusterDown: 0,
      maxRedirections: 4,
    },
  );
  client.on("+node", (node: Redis) => {
    tuneConnection(node, options);
    // Otherwise nodes connect with their first command, and commands right after it fail.
    if (node.status === "wait") node.connect().catch(options.onError);
  });
  return client;
}

/** Returns milliseconds: 50, 100, 200 … up to a second, with 10 % jitter so that workers do not reconnect in step. */
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
  // In a URL an IPv6 address has brackets.
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  return { host, port: url.port === "" ? defaultPort : Number(url.port) };
}
