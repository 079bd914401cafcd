/** Checks of Redis: reachable, supported version, persistence, no eviction, latency, clock. */
import { join } from "node:path";
import { Cluster, type Redis } from "ioredis";
import type { Config } from "../../shared/config/schema.ts";
import { isAtLeast, OLDEST_REDIS } from "../../shared/contract/proven-versions.ts";
import { parseMemory } from "../../data-path/store/memory.ts";
import { connectTo } from "../../data-path/store/open-store.ts";
import { createRedisClient, type RedisClient, waitUntilReady } from "../../data-path/store/redis/client.ts";
import { shareOf } from "../../shared/stored/memory.ts";
import { type DoctorFinding, found, ok, reasonOf } from "./finding.ts";

const CONNECT_BOUND_MS = 3_000;
const COMMAND_TIMEOUT_MS = 2_000;
const SHORT_MEMORY_PERCENT = 80;
const SAMPLES = 20;
/** The request path waits 250 ms and then rejects; this leaves time for bursts. */
const SLOW_MS = 10;
const MAX_CLOCK_DIFFERENCE_MS = 2_000;

/** Connects and passes the client on; if Redis is unreachable, returns one finding. */
export async function withRedis(
  config: Config,
  check: (client: RedisClient) => Promise<DoctorFinding[]>,
): Promise<DoctorFinding[]> {
  const client = openClient(config);
  try {
    await waitUntilReady(client, CONNECT_BOUND_MS);
  } catch (error) {
    client.disconnect();
    const where = describeRedis(config);
    const message = `Redis at ${where} can't be used: ${reasonOf(error)}.`;
    return [found("redis_unreachable", "redis.reachable", { message })];
  }
  try {
    return await check(client);
  } finally {
    client.disconnect();
  }
}

/** @param client Ready client. For a Cluster, checks every primary, since each has some of the organizations. */
export async function checkRedis(client: RedisClient): Promise<DoctorFinding[]> {
  if (!(client instanceof Cluster)) return checkServer(client);
  const all = await Promise.all(client.nodes("master").map(checkMaster));
  return all.flat();
}

async function checkMaster(node: Redis): Promise<DoctorFinding[]> {
  const where = `${node.options.host}:${node.options.port}`;
  const findings = await checkServer(node);
  return findings.map((finding) => ({ ...finding, message: `${where}: ${finding.message}` }));
}

async function checkServer(client: Redis): Promise<DoctorFinding[]> {
  const text = await client.info();
  const info = parseInfo(text);
  return [
    checkVersion(info),
    ...checkPersistence(info),
    checkEviction(info),
    ...checkMemory(text),
    await checkLatency(client),
    await checkClock(client),
  ];
}

function openClient(config: Config): RedisClient {
  const shared = { commandTimeoutMs: COMMAND_TIMEOUT_MS, onError: () => undefined };
  return config.redis === null
    ? createRedisClient({ url: privateSocket(config), ...shared })
    : connectTo(config.redis, shared);
}

function privateSocket({ sidecar }: Config): string {
  return `unix://${join(sidecar.sockets, "redis.sock")}`;
}

function describeRedis(config: Config): string {
  return config.redis === null ? privateSocket(config) : config.redis.urls.join(", ");
}

function parseInfo(text: string): ReadonlyMap<string, string> {
  return new Map(
    text.split("\r\n").flatMap((line): [string, string][] => {
      const colon = line.indexOf(":");
      return colon < 1 ? [] : [[line.slice(0, colon), line.slice(colon + 1)]];
    }),
  );
}

function checkVersion(info: ReadonlyMap<string, string>): DoctorFinding {
  const version = info.get("redis_version") ?? "unknown";
  // Valkey reports a compatible Redis version, and its own separately.
  const valkey = info.get("valkey_version");
  const name =
    valkey === undefined ? `Redis ${version}` : `Valkey ${valkey}, compatible with Redis ${version}`;
  if (isAtLeast(version, OLDEST_REDIS)) return ok("redis.version", `${name}.`);
  const message = `Redis ${version} is older than ${OLDEST_REDIS}.`;
  const fix = `Upgrade Redis to ${OLDEST_REDIS} or newer: the gateway's scripts need it.`;
  return found("redis_too_old", "redis.version", { message, fix });
}

function checkPersistence(info: ReadonlyMap<string, string>): DoctorFinding[] {
  const check = "redis.persistence";
  const startedMs = Date.now() - Number(info.get("uptime_in_seconds") ?? 0) * 1000;
  const findings: DoctorFinding[] = [];
  if (info.get("aof_enabled") === "0") {
    const message = "Redis keeps no append-only file.";
    findings.push(found("redis_append_only_off", check, { message, since: new Date(startedMs) }));
  }
  const failed = ["aof_last_write_status", "aof_last_bgrewrite_status"].filter(
    (field) => (info.get(field) ?? "ok") !== "ok",
  );
  if (failed.length > 0) {
    const message = `Redis couldn't write its append-only file (${failed.join(", ")}).`;
    findings.push(found("redis_append_only_failing", check, { message }));
  }
  if ((info.get("rdb_last_bgsave_status") ?? "ok") !== "ok") {
    const lastMs = Number(info.get("rdb_last_save_time") ?? 0) * 1000;
    const message = `Redis couldn't write its snapshot; the last good one is from ${new Date(lastMs).toISOString()}.`;
    findings.push(found("redis_snapshot_failing", check, { message, since: new Date(lastMs) }));
  }
  if (findings.length > 0) return findings;
  return [ok(check, "Redis keeps an append-only file.")];
}

function checkEviction(info: ReadonlyMap<string, string>): DoctorFinding {
  const policy = info.get("maxmemory_policy") ?? "unknown";
  if (policy === "noeviction") return ok("redis.eviction", "Redis evicts nothing.");
  const isLimited = (info.get("maxmemory") ?? "0") !== "0";
  const message = `Redis may evict data: maxmemory-policy is ${policy}${isLimited ? "" : " (no maxmemory is set yet)"}.`;
  return found("redis_evicts", "redis.eviction", { message });
}

function checkMemory(info: string): DoctorFinding[] {
  const use = parseMemory(info);
  if (use === null) return [];
  const percent = Math.round(shareOf(use) * 100);
  const message = `Redis uses ${percent}% of its ${Math.round(use.maxBytes / 1024 ** 2)} MiB.`;
  if (percent <= SHORT_MEMORY_PERCENT) return [ok("redis.memory", message)];
  return [found("redis_memory_short", "redis.memory", { message })];
}

async function checkLatency(client: Redis): Promise<DoctorFinding> {
  const times: number[] = [];
  for (let index = 0; index < SAMPLES; index += 1) {
    const startMs = performance.now();
    // Not PING, which Redis rejects while it cannot write its files.
    await client.time();
    times.push(performance.now() - startMs);
  }
  const median = times.sort((a, b) => a - b)[SAMPLES / 2] ?? 0;
  const message = `Redis responds in ${median.toFixed(2)} ms (median of ${SAMPLES}).`;
  if (median <= SLOW_MS) return ok("redis.latency", message);
  return found("redis_slow", "redis.latency", { message });
}

async function checkClock(client: Redis): Promise<DoctorFinding> {
  const beforeMs = Date.now();
  const [seconds, microseconds] = (await client.time()) as unknown as [string | number, string | number];
  const redisMs = Number(seconds) * 1000 + Number(microseconds) / 1000;
  const difference = Math.round(redisMs - (beforeMs + Date.now()) / 2);
  const message = `Redis's clock is ${Math.abs(difference)} ms ${difference < 0 ? "behind" : "ahead of"} this host's.`;
  if (Math.abs(difference) <= MAX_CLOCK_DIFFERENCE_MS) return ok("clock", message);
  return found("clock_differs", "clock", { message });
}
