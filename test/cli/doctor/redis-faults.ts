/** Findings about Redis: a real one each time, broken by its own settings, its disk, its clock or the way to it. */
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { Redis } from "ioredis";
import { type Child, startChild } from "../../support/child.ts";
import { canSetRedisClock, type PrivateRedis, startRedis, startRedisWithClock } from "../../support/redis.ts";
import { type RedisProxy, startRedisProxy } from "../../support/redis-proxy.ts";
import { waitFor } from "../../support/wait.ts";
import type { DoctorWorld, Provocation, Report } from "./provocation.ts";

const HOUR_MICROSECONDS = 3_600_000_000n;
const SLOW_MS = 15;

/** One command after the other on a connection of their own. */
async function command(url: string, ...commands: readonly (readonly string[])[]): Promise<unknown[]> {
  const path = new URL(url).pathname;
  const client = new Redis({ path, protocol: 2, retryStrategy: () => null });
  client.on("error", () => undefined);
  try {
    const answers: unknown[] = [];
    for (const [name = "", ...args] of commands) answers.push(await client.call(name, ...args));
    return answers;
  } finally {
    client.disconnect();
  }
}

/** Looks at a Redis of its own that these commands have changed. */
async function examineChanged(
  world: DoctorWorld,
  commands: readonly (readonly string[])[],
  redisSettings: object = {},
): Promise<Report> {
  const redis = await startRedis({ appendOnly: true });
  try {
    await command(redis.url, ...commands);
    return await world.examine({ redis: { url: redis.url, ...redisSettings } });
  } finally {
    await redis.stop();
  }
}

/** A Redis whose writes fail from some byte on, as on a full disk; it is not ended by that, as by default. */
async function startOnSmallDisk(folder: string): Promise<{ redis: Child; url: string }> {
  const program = process.env["REDIS_SERVER_BIN"] || "redis-server";
  const path = `${folder}/redis.sock`;
  const settings = [
    "--port",
    "0",
    "--unixsocket",
    path,
    "--dir",
    folder,
    "--appendonly",
    "yes",
    "--save",
    "",
  ];
  const redis = startChild("sh", ["-c", `trap '' XFSZ; exec "$0" "$@"`, program, ...settings]);
  const url = `unix://${path}`;
  await waitFor("redis-server to answer", async () => (await command(url, ["PING"]))[0] === "PONG");
  // More than a snapshot may have then; nothing in it can be compressed.
  await command(url, ["SET", "large", randomBytes(65_536).toString("latin1")]);
  execFileSync("prlimit", ["--pid", String(redis.pid), "--fsize=4096:"]);
  return { redis, url };
}

async function examineSmallDisk(world: DoctorWorld, write: string[], sign: string): Promise<Report> {
  const { redis, url } = await startOnSmallDisk(await world.createFolder());
  try {
    await command(url, write).catch(() => undefined);
    await waitFor(sign, async () => String((await command(url, ["INFO", "persistence"]))[0]).includes(sign));
    return await world.examine({ redis: { url } });
  } finally {
    await redis.stop(10_000);
  }
}

async function examineThrough(world: DoctorWorld, change: (proxy: RedisProxy) => void): Promise<Report> {
  const proxy = await startRedisProxy(world.redis.url);
  try {
    change(proxy);
    return await world.examine({ redis: { url: proxy.url } });
  } finally {
    await proxy.close();
  }
}

/** The version in INFO, with another first digit: the rest of Redis is as it is. */
function makeOld(answer: Buffer): Buffer {
  return Buffer.from(answer.toString("latin1").replace(/(redis_version:)\d/, "$15"), "latin1");
}

async function examineClock(world: DoctorWorld): Promise<Report> {
  const behind = BigInt(Date.now()) * 1000n - HOUR_MICROSECONDS;
  const { redis }: { redis: PrivateRedis } = await startRedisWithClock(behind);
  try {
    return await world.examine({ redis: { url: redis.url } });
  } finally {
    await redis.stop();
  }
}

export const REDIS_FAULTS = {
  redis_unreachable: [
    {
      name: "nothing listens there",
      provoke: (world) => world.examine({ redis: { url: `redis://127.0.0.1:${world.closedPort}` } }),
      says: /ECONNREFUSED/,
    },
    {
      name: "it wants a password",
      provoke: (world) => examineChanged(world, [["CONFIG", "SET", "requirepass", "other"]]),
      says: /NOAUTH/,
    },
    {
      name: "it wants another password",
      provoke: (world) =>
        examineChanged(world, [["CONFIG", "SET", "requirepass", "other"]], { password: { env: "T_SECRET" } }),
      says: /WRONGPASS/,
    },
  ],
  redis_too_old: [
    {
      name: "its INFO names a version of long ago (a proxy in front of the real one says so)",
      provoke: (world) => examineThrough(world, (proxy) => (proxy.rewrite = makeOld)),
      says: /Redis 5\.\S+ is older than 6\.2/,
    },
  ],
  redis_append_only_off: [
    {
      name: "appendonly is off",
      provoke: (world) => examineChanged(world, [["CONFIG", "SET", "appendonly", "no"]]),
      says: /no append-only file/,
    },
  ],
  redis_append_only_failing: [
    {
      name: "its disk takes no more",
      provoke: (world) => examineSmallDisk(world, ["SET", "more", "x"], "aof_last_write_status:err"),
      says: /aof_last_write_status/,
    },
  ],
  redis_snapshot_failing: [
    {
      name: "its disk takes no snapshot",
      provoke: (world) => examineSmallDisk(world, ["BGSAVE"], "rdb_last_bgsave_status:err"),
      says: /snapshot/,
    },
  ],
  redis_evicts: [
    {
      name: "maxmemory-policy is allkeys-lru",
      provoke: (world) => examineChanged(world, [["CONFIG", "SET", "maxmemory-policy", "allkeys-lru"]]),
      says: /allkeys-lru/,
    },
  ],
  redis_memory_short: [
    {
      name: "maxmemory is little more than what it uses",
      provoke: (world) => examineChanged(world, [["CONFIG", "SET", "maxmemory", "1mb"]]),
      says: /uses \d+% of its 1 MiB/,
    },
  ],
  redis_slow: [
    {
      name: "each answer comes late",
      provoke: (world) => examineThrough(world, (proxy) => (proxy.delayMs = SLOW_MS)),
      says: /responds in [1-9]\d+\.\d\d ms/,
    },
  ],
  clock_differs: [
    {
      name: "its clock is an hour behind",
      provoke: examineClock,
      says: /3[56]\d{5} ms behind/,
      missing: canSetRedisClock() ? null : "no C compiler to set a clock with",
    },
  ],
  check_failed: [
    {
      name: "the gateway's user may not use INFO",
      provoke: (world) =>
        examineChanged(
          world,
          [["ACL", "SETUSER", "gateway", "on", ">s3cret-value", "~*", "&*", "+@all", "-info"]],
          { username: "gateway", password: { env: "T_SECRET" } },
        ),
      says: /NOPERM/,
    },
  ],
} as const satisfies Record<string, readonly Provocation[]>;
