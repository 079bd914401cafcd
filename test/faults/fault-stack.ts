/** What a fault scenario runs on: Envoy, a gateway of two workers, a Redis that can be broken, a counting upstream. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { createRedisClient, type RedisClient, waitUntilReady } from "../../src/store/client.ts";
import { createStore } from "../../src/store/redis-store.ts";
import type { Store } from "../../src/store/types.ts";
import { catalogEntry } from "../support/gateway-config.ts";
import { startStack, type Stack } from "../support/stack.ts";
import { type CreatedKey, createTestKey } from "../support/test-key.ts";
import { waitFor } from "../support/wait.ts";
import { type CountingUpstream, startCountingUpstream } from "./counting-upstream.ts";
import { type FaultRedis, startFaultRedis } from "./fault-redis.ts";

/** A prompt token costs a cent and a generated one two, so that caps are some dozens of requests. */
export const MODEL = "acme/counted";
export const PROMPT_MICROCENTS = 1_000_000n;
export const OUTPUT_MICROCENTS = 2_000_000n;
export const WORKERS = 2;
const PRICES = { USD: { input: "10000", cached_input: "10000", output: "20000" } };

export interface FaultStack {
  readonly stack: Stack;
  readonly redis: FaultRedis;
  readonly upstream: CountingUpstream;
  readonly store: Store;
  /** Three organizations with a key each: without a cap, with one, with a strict one. */
  createTenants(capCents: number): Promise<Tenants>;
  /** Waits until nothing of these keys is in flight or in the spool. */
  waitUntilSettled(keys: readonly CreatedKey[], timeoutMs: number): Promise<void>;
  stop(): Promise<void>;
}

export interface Tenants {
  readonly open: CreatedKey;
  readonly capped: CreatedKey;
  readonly strict: CreatedKey;
}

export async function startFaultStack(overrides: object = {}): Promise<FaultStack> {
  const redis = await startFaultRedis();
  const upstream = await startCountingUpstream();
  const stop = async (): Promise<void> => {
    await upstream.close();
    await redis.stop();
  };
  const stack = await startStack({
    upstreams: [{ name: "counted", url: upstream.url, path_prefix: "/v1" }],
    catalog: [catalogEntry({ id: MODEL, upstream: "counted", prices: PRICES })],
    workers: WORKERS,
    overrides: { redis: { url: redis.url }, ...overrides },
  }).catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  let client: RedisClient | null = null;
  try {
    client = createRedisClient({ url: redis.url, commandTimeoutMs: 10_000, onError: () => undefined });
    await waitUntilReady(client, 10_000);
  } catch (error) {
    client?.disconnect();
    await stack.stop();
    await stop();
    throw error;
  }
  const connected = client;
  const store = createStore({ client: connected, usageMonths: 13 });
  return {
    stack,
    redis,
    upstream,
    store,
    createTenants: async (hardCapCents) => ({
      open: await createTestKey(store, {}),
      capped: await createTestKey(store, {}, { hardCapCents }),
      strict: await createTestKey(store, {}, { hardCapCents, strictCaps: true }),
    }),
    waitUntilSettled: (keys, timeoutMs) =>
      waitFor(
        "everything to be settled",
        async () => {
          if (listSpoolFiles(stack).length > 0) return false;
          for (const { organizationId } of keys) {
            if ((await connected.zcard(`igw:{${organizationId}}:holds`)) > 0) return false;
          }
          return true;
        },
        { timeoutMs, intervalMs: 100 },
      ).then(() => undefined),
    async stop() {
      connected.disconnect();
      await stack.stop();
      await stop();
    },
  };
}

/** Files in which charges wait for Redis. */
export function listSpoolFiles(stack: Stack): readonly string[] {
  try {
    return readdirSync(join(stack.dir, "data/spool")).filter((name) => name.endsWith(".spool"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}
