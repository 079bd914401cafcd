/** The store of a process: connected, its data checked to be of this version. */
import type { Config } from "../config/schema.ts";
import { createRedisClient, waitUntilReady } from "./client.ts";
import type { RedisAddress, RedisClient } from "./client.ts";
import { createStore } from "./redis-store.ts";
import { checkSchema } from "./schema.ts";
import type { Store } from "./types.ts";

/** A Redis that is only just starting reads its append-only file first. */
const READY_TIMEOUT_MS = 30_000;

type RedisSettings = NonNullable<Config["redis"]>;

export interface OpenStoreOptions {
  /** The client's own when left out. */
  readonly commandTimeoutMs?: number;
}

export interface OpenStore {
  readonly store: Store;
  readonly client: RedisClient;
  /** Ends the connection at once: whoever closes it has waited for its own commands. */
  readonly close: () => void;
}

/**
 * Connects and waits until commands can be sent.
 * @throws Error when no Redis is configured, when it is not ready after 30 s, or when its data is a newer version's.
 */
export async function openStore(
  config: Pick<Config, "redis" | "retention">,
  logger: { warn(fields: object, message: string): void },
  options: OpenStoreOptions = {},
): Promise<OpenStore> {
  if (config.redis === null) throw new Error("No Redis is configured: set `redis.url`.");
  const { username, password, sentinelPassword } = config.redis;
  const client = createRedisClient({
    ...formatAddress(config.redis),
    username,
    password: password?.reveal() ?? null,
    sentinelPassword: sentinelPassword?.reveal() ?? null,
    tlsFiles: config.redis,
    ...options,
    onError: (error) => logger.warn({ err: error }, "the connection to Redis failed"),
  });
  try {
    await waitUntilReady(client, READY_TIMEOUT_MS);
    await checkSchema(client);
  } catch (error) {
    client.disconnect();
    throw error;
  }
  const store = createStore({ client, usageMonths: config.retention.usageMonths });
  return { store, client, close: () => client.disconnect() };
}

function formatAddress({ mode, urls, name }: RedisSettings): RedisAddress {
  if (mode === "cluster") return { cluster: urls };
  if (mode === "sentinel") return { sentinels: urls, name: name ?? "" };
  return { url: urls[0] ?? "" };
}
