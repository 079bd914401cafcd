/**
 * What a million API keys cost: memory of Redis per key, and whether admission gets slower. Fills a private Redis with
 * records as the store writes them and compares admissions among a thousand keys with admissions among all of them.
 *
 *   npx tsx test/bench/million-keys.ts [--keys 1000000] [--organizations 1000] [--seconds 5] [--callers 32]
 */
import { connect, type Socket } from "node:net";
import { once } from "node:events";
import { parseArgs } from "node:util";
import { Redis } from "ioredis";
import { createKey, displayKey, hashKey } from "../../src/auth/key-format.ts";
import { createRedisClient, waitUntilReady } from "../../src/store/redis/client.ts";
import { createId } from "../../src/store/ids.ts";
import { keyListKey, keyRecordKey, lookUpKey, requestBucketKey } from "../../src/store/redis/keys.ts";
import { formatKeySettings } from "../../src/store/management/records.ts";
import { createStore } from "../../src/store/redis-store.ts";
import type { Store } from "../../src/store/types.ts";
import { KEY_SETTINGS, type KeySettings } from "../../src/settings/key.ts";
import { defaultsOf } from "../../src/settings/table.ts";
import { startRedis } from "../support/redis.ts";
import { createTestKey } from "../support/test-key.ts";

interface BenchKey {
  readonly organizationId: string;
  readonly keyId: string;
  readonly presentedHash: string;
}

const ID_CHARACTERS = 40;
const HASH_BYTES = 32;
const ROW_BYTES = ID_CHARACTERS + HASH_BYTES;

/** Outside of the heap: a million objects would have the collector measured too. */
class KeyTable {
  readonly #organizations: readonly string[];
  readonly #rows: Buffer;
  length = 0;

  constructor(organizations: readonly string[], capacity: number) {
    this.#organizations = organizations;
    this.#rows = Buffer.alloc(capacity * ROW_BYTES);
  }

  /** The next one in the turn of the organizations. */
  push(keyId: string, presentedHash: string): void {
    const start = this.length * ROW_BYTES;
    this.#rows.write(keyId, start, "latin1");
    this.#rows.write(presentedHash, start + ID_CHARACTERS, "hex");
    this.length += 1;
  }

  at(index: number): BenchKey {
    const start = index * ROW_BYTES;
    const split = start + ID_CHARACTERS;
    return {
      organizationId: this.#organizations[index % this.#organizations.length] ?? "",
      keyId: this.#rows.toString("latin1", start, split),
      presentedHash: this.#rows.toString("hex", split, split + HASH_BYTES),
    };
  }
}

const SETTINGS: KeySettings = {
  ...defaultsOf(KEY_SETTINGS),
  name: "production key of a customer",
  // Nobody is refused: a refusal is another, longer way through the script.
  requestsPerMinute: 1_000_000,
  hardCapCents: 5_000,
  budgetCents: 4_000,
};
const FEW_KEYS = 1_000;
const KEYS_PER_WRITE = 1_000;

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
  await fill(socket, organizations, keys, Math.min(FEW_KEYS, keyCount));
  const few = await measure(store, keys);
  const fewBytes = await readUsedBytes();
  const before = keys.length;
  await fill(socket, organizations, keys, keyCount - before);
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
  const { decision } = await store.admit({ ...key, requestId, route, bucket: "requests", metered: true });
  if (decision !== "admitted") throw new Error(decision);
}

/** Bytes of one key's bucket, which is there once the key is in use. */
async function measureBucket(store: Store, key: BenchKey): Promise<number> {
  await admit(store, key);
  return Number(await redis.call("MEMORY", "USAGE", requestBucketKey(key.organizationId, key.keyId)));
}

async function createOrganizations(store: Store, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1) ids.push((await createTestKey(store)).organizationId);
  return ids;
}

/** Writes records, lists and look-ups as `createKey` of the store does, many in one write. */
async function fill(
  path: string,
  organizations: readonly string[],
  keys: KeyTable,
  count: number,
): Promise<void> {
  const connection = connect({ path });
  const state = { missing: 3 * count };
  // Every reply is one line: integers, or OK.
  connection.on("data", (bytes: Buffer) => {
    for (const byte of bytes) if (byte === 0x0a) state.missing -= 1;
  });
  for (let start = 0; start < count; start += KEYS_PER_WRITE) {
    const commands: string[] = [];
    for (let index = start; index < Math.min(count, start + KEYS_PER_WRITE); index += 1) {
      const organizationId = organizations[keys.length % organizations.length] ?? "";
      const key = createKey();
      const keyId = createId("key", Date.now());
      const presentedHash = hashKey(key);
      const record = {
        hash: presentedHash,
        display: displayKey(key),
        created_at: String(Date.now()),
        version: "1",
      };
      const fields = [...formatKeySettings(SETTINGS), ...Object.entries(record).flat()];
      commands.push(
        formatCommand(["HSET", keyRecordKey(organizationId, keyId), ...fields]),
        formatCommand(["ZADD", keyListKey(organizationId), "0", keyId]),
        formatCommand(["SET", lookUpKey(presentedHash), `${organizationId} ${keyId}`]),
      );
      keys.push(keyId, presentedHash);
    }
    await write(connection, commands.join(""));
  }
  while (state.missing > 0) await once(connection, "data");
  connection.destroy();
}

async function write(connection: Socket, text: string): Promise<void> {
  if (!connection.write(text)) await once(connection, "drain");
}

function formatCommand(words: readonly string[]): string {
  return `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join("")}`;
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
