/**
 * What a million API keys cost: memory of Redis per key, and whether admission gets slower. Fills a private Redis with
 * records as the store writes them and compares admissions among a thousand keys with admissions among all of them.
 *
 *   npx tsx test/bench/million-keys.ts [--keys 1000000] [--organizations 1000] [--seconds 5] [--callers 32]
 */
import { parseArgs } from "node:util";
import { Redis } from "ioredis";
import { createRedisClient, waitUntilReady } from "../../src/data-path/store/redis/client.ts";
import { createId } from "../../src/data-path/store/ids.ts";
import { requestBucketKey } from "../../src/data-path/store/redis/keys.ts";
import { createStore } from "../../src/data-path/store/redis-store.ts";
import type { Store } from "../../src/shared/stored/store.ts";
import { startRedis } from "../support/redis.ts";
import { type BenchKey, createOrganizations, fillKeys, KeyTable } from "./key-table.ts";

const FEW_KEYS = 1_000;

const { values } = parseArgs({
  options: {
    keys: { type: "string", default: "1000000" },
    organizations: { type: "string", default: "1000" },
    seconds: { type: "string", default: "5" },
    callers: { type: "string", default: "32" },
  },
});
const keyCount = Number(values.keys);
const seconds = Number(values.seconds);
const callers = Number(values.callers);

const server = await startRedis();
const socket = new URL(server.url).pathname;
const redis = new Redis(socket, { protocol: 2 });
const client = createRedisClient({ url: server.url, onError: (error) => console.error(String(error)) });
try {
  await waitUntilReady(client, 10_000);
  const store = createStore({ client, usageMonths: 13 });
  const organizations = await createOrganizations(store, Number(values.organizations));
  await run(store, organizations);
} finally {
  client.disconnect();
  redis.disconnect();
  await server.stop();
}

async function run(store: Store, organizations: readonly string[]): Promise<void> {
  const emptyBytes = await readUsedBytes();
  const startedMs = performance.now();
  const keys = new KeyTable(organizations, keyCount);
  await fillKeys(socket, organizations, keys, Math.min(FEW_KEYS, keyCount));
  const few = await measure(store, keys);
  const fewBytes = await readUsedBytes();
  const before = keys.length;
  await fillKeys(socket, organizations, keys, keyCount - before);
  const filledMs = performance.now() - startedMs;
  const fullBytes = await readUsedBytes();
  const many = await measure(store, keys);
  const bucketBytes = await measureBucket(store, keys.at(0));
  console.log(`| keys | admissions/s | µs in Redis per admission | p50 ms | p99 ms |`);
  console.log(`|---|---|---|---|---|`);
  console.log(formatRow(before, few));
  console.log(formatRow(keys.length, many));
  console.log(`bytes per key: ${Math.round((fullBytes - fewBytes) / Math.max(1, keys.length - before))}`);
  console.log(`further bytes once a key is in use, its bucket: ${bucketBytes}`);
  console.log(
    `Redis in all: ${((fullBytes - emptyBytes) / 1024 ** 2).toFixed(0)} MiB; filled in ${(filledMs / 1000).toFixed(0)} s`,
  );
  console.log(`${seconds} s each, ${callers} callers, Node ${process.version}, Redis ${await readVersion()}`);
}

interface Figures {
  readonly perSecond: number;
  readonly microsecondsInRedis: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** Admissions of keys at random, one after the other by each caller. */
async function measure(store: Store, keys: KeyTable): Promise<Figures> {
  await admitAll(store, keys, 1);
  await redis.config("RESETSTAT");
  const latencies = await admitAll(store, keys, seconds);
  const stats = await redis.info("commandstats");
  const perCall = /cmdstat_evalsha:.*usec_per_call=(?<microseconds>[\d.]+)/u.exec(stats)?.groups?.[
    "microseconds"
  ];
  latencies.sort((one, other) => one - other);
  const at = (share: number) => latencies[Math.floor(latencies.length * share)] ?? 0;
  return {
    perSecond: latencies.length / seconds,
    microsecondsInRedis: Number(perCall),
    p50Ms: at(0.5),
    p99Ms: at(0.99),
  };
}

async function admitAll(store: Store, keys: KeyTable, forSeconds: number): Promise<number[]> {
  const latencies: number[] = [];
  const endMs = performance.now() + forSeconds * 1000;
  const call = async (): Promise<void> => {
    while (performance.now() < endMs) {
      const key = keys.at(Math.floor(Math.random() * keys.length));
      const startedMs = performance.now();
      await admit(store, key);
      latencies.push(performance.now() - startedMs);
    }
  };
  await Promise.all(Array.from({ length: callers }, call));
  return latencies;
}

async function admit(store: Store, key: BenchKey): Promise<void> {
  const requestId = createId("req", Date.now());
  const route = "POST /v1/chat/completions";
  const { decision } = await store.admit({
    ...key,
    requestId,
    route,
    bucket: "requests",
    metered: true,
    promptTokens: 0,
  });
  if (decision !== "admitted") throw new Error(decision);
}

/** Bytes of one key's bucket, which is there once the key is in use. */
async function measureBucket(store: Store, key: BenchKey): Promise<number> {
  await admit(store, key);
  return Number(await redis.call("MEMORY", "USAGE", requestBucketKey(key.organizationId, key.keyId)));
}

async function readUsedBytes(): Promise<number> {
  return Number(/used_memory:(\d+)/u.exec(await redis.info("memory"))?.[1]);
}

async function readVersion(): Promise<string> {
  return /redis_version:(\S+)/u.exec(await redis.info("server"))?.[1] ?? "?";
}

function formatRow(count: number, { perSecond, microsecondsInRedis, p50Ms, p99Ms }: Figures): string {
  const cells = [
    count.toLocaleString("en"),
    Math.round(perSecond).toLocaleString("en"),
    microsecondsInRedis.toFixed(1),
    p50Ms.toFixed(2),
    p99Ms.toFixed(2),
  ];
  return `| ${cells.join(" | ")} |`;
}
