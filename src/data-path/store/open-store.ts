/**
 * Opens the store of a process: connects, and checks the version of the data before any other command.
 * Commands of the CLI wait for Redis and fail if it stays unreachable. A gateway starts without Redis
 * (`openStoreInBackground`) and reports not ready until Redis answers, because only a running process can
 * send the contents of its spool.
 */
import type { Config } from "../../shared/config/schema.ts";
import type { Logger } from "../../shared/host/logger.ts";
import { pause, waitAtMost } from "../../shared/event-loop/wait.ts";
import {
  createRedisClient,
  isLoginRefused,
  type RedisAddress,
  type RedisClient,
  type RedisConnectionOptions,
  waitUntilReady,
} from "./redis/client.ts";
import { createStore, createStoreOfBoth, type StoreOfBoth } from "./redis-store.ts";
import { checkSchema, SchemaError } from "./redis/schema.ts";
import type { OperationMeter } from "./run.ts";
import type { Store } from "../../shared/stored/store.ts";
import { NO_OWN_SPEND, type OwnSpend } from "../../shared/stored/own-spend.ts";

/** Allows for Redis to load its append-only file after a start. */
const READY_TIMEOUT_MS = 30_000;
/** Time that a gateway waits at startup: an answer within it can still stop the start. */
const FIRST_ANSWER_MS = 2_000;
const FIRST_RETRY_MS = 100;
const MAX_RETRY_MS = 1_000;
/** Interval of the log line while Redis is unreachable. */
const LOG_INTERVAL_MS = 30_000;

type RedisSettings = NonNullable<Config["redis"]>;

export interface OpenStoreOptions {
  /** Default: the client's own. */
  readonly commandTimeoutMs?: number;
  /** Time that `openStore` waits for Redis. Default: 30 s. */
  readonly readyTimeoutMs?: number;
  readonly redisMeter?: OperationMeter | null;
  readonly ownSpend?: OwnSpend;
}

export interface OpenStore {
  readonly store: Store;
  readonly client: RedisClient;
  /** Closes the connection at once; the caller must have waited for its own commands. */
  readonly close: () => void;
}

/** Store that may still wait for Redis's first answer. Until then its operations reject without sending a command. */
export interface OpeningStore extends OpenStore, StoreOfBoth {
  /** True once Redis has answered and its data has this version. Never becomes false again. */
  readonly isOpen: () => boolean;
  /** Resolves when `isOpen` becomes true. Never rejects, and never resolves after `close`. */
  readonly opened: Promise<void>;
  /** Waits for Redis. Closes the store and rejects if Redis has not answered within the bound. */
  readonly waitUntilOpen: (boundMs: number) => Promise<void>;
}

interface StoreSettings extends Pick<Config, "redis"> {
  readonly retention: Pick<Config["retention"], "usageMonths">;
}

/**
 * Connects and waits until commands can be sent.
 * @throws Error if no Redis is configured, if it is not ready in time, or if its data has a newer version.
 */
export async function openStore(
  config: StoreSettings,
  logger: Logger<"warn">,
  options: OpenStoreOptions = {},
): Promise<OpenStore> {
  const client = connect(config, logger, options);
  const close = (): void => client.disconnect();
  try {
    await reach(client, options.readyTimeoutMs ?? READY_TIMEOUT_MS);
  } catch (error) {
    close();
    throw error;
  }
  return { store: createStore({ client, ...storeOptions(config, options) }), client, close };
}

/**
 * Connects and retries without end. Resolves after two seconds at the latest, whether Redis has answered or
 * not.
 * @throws Error if no Redis is configured, or if Redis reports within two seconds that it rejects the login
 * or has data of a newer version. Later such reports are logged and retried.
 */
export async function openStoreInBackground(
  config: StoreSettings,
  logger: Logger<"warn" | "error">,
  options: OpenStoreOptions = {},
): Promise<OpeningStore> {
  const client = connect(config, logger, options);
  const state = { isOpen: false, isClosed: false };
  const attempt = async (timeoutMs: number): Promise<void> => {
    await reach(client, timeoutMs);
    state.isOpen = true;
  };
  const first = await attempt(FIRST_ANSWER_MS).catch((error: unknown) => error);
  if (first instanceof SchemaError || isLoginRefused(first)) {
    client.disconnect();
    throw first;
  }
  const close = (): void => {
    state.isClosed = true;
    client.disconnect();
  };
  const opened = state.isOpen ? Promise.resolve() : openEventually(attempt, state, logger, first);
  return {
    ...createStoreOfBoth({ client, ...storeOptions(config, options), isOpen: () => state.isOpen }),
    client,
    close,
    isOpen: () => state.isOpen,
    opened,
    waitUntilOpen: async (boundMs) => {
      await waitAtMost(opened, boundMs);
      if (state.isOpen) return;
      close();
      throw new Error(`Redis did not answer within ${boundMs / 1000} s: is it running where \`redis\` says?`);
    },
  };
}

async function openEventually(
  attempt: (timeoutMs: number) => Promise<void>,
  state: { readonly isOpen: boolean; readonly isClosed: boolean },
  logger: Logger<"warn" | "error">,
  first: unknown,
): Promise<void> {
  let lastLine = { level: "", atMs: -Infinity };
  const log = (error: unknown): void => {
    const level = error instanceof SchemaError || isLoginRefused(error) ? "error" : "warn";
    if (lastLine.level === level && performance.now() - lastLine.atMs < LOG_INTERVAL_MS) return;
    lastLine = { level, atMs: performance.now() };
    logger[level](
      { err: error },
      "Redis has not served this process since its start: not ready until it does",
    );
  };
  log(first);
  for (let retryMs = FIRST_RETRY_MS; !state.isClosed; retryMs = Math.min(MAX_RETRY_MS, 2 * retryMs)) {
    await pause(retryMs, { ref: false });
    await attempt(FIRST_ANSWER_MS).catch(log);
    if (state.isOpen) return logger.warn({}, "redis connected");
  }
  return new Promise(() => undefined);
}

async function reach(client: RedisClient, timeoutMs: number): Promise<void> {
  await waitUntilReady(client, timeoutMs);
  await checkSchema(client);
}

function connect(config: StoreSettings, logger: Logger<"warn">, options: OpenStoreOptions): RedisClient {
  if (config.redis === null) throw new Error("No Redis is configured: set `redis.url`.");
  return connectTo(config.redis, {
    ...(options.commandTimeoutMs === undefined ? {} : { commandTimeoutMs: options.commandTimeoutMs }),
    onError: (error) => logger.warn({ err: error }, "redis connection failed"),
  });
}

/** Creates a client of the configured Redis. */
export function connectTo(
  redis: RedisSettings,
  options: Pick<RedisConnectionOptions, "commandTimeoutMs" | "onError">,
): RedisClient {
  const { username, password, sentinelPassword } = redis;
  return createRedisClient({
    ...formatAddress(redis),
    username,
    password: password?.reveal() ?? null,
    sentinelPassword: sentinelPassword?.reveal() ?? null,
    tlsFiles: redis,
    ...options,
  });
}

function storeOptions(
  config: StoreSettings,
  { redisMeter = null, ownSpend = NO_OWN_SPEND }: OpenStoreOptions,
) {
  return { usageMonths: config.retention.usageMonths, meter: redisMeter, ownSpend };
}

function formatAddress({ mode, urls, name }: RedisSettings): RedisAddress {
  if (mode === "cluster") return { cluster: urls };
  if (mode === "sentinel") return { sentinels: urls, name: name ?? "" };
  return { url: urls[0] ?? "" };
}
