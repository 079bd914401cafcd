/**
 * A private redis-server for a test: on a Unix socket (or as a three-node cluster on loopback ports) in a folder of its
 * own, optionally with a clock that the test sets. `REDIS_SERVER_BIN` names the program; else it is taken from PATH.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { endianness, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Redis } from "ioredis";
import { type Child, startChild } from "./child.ts";
import { findFreePort } from "./free-port.ts";
import { waitFor } from "./wait.ts";

const SLOTS = 16_384;
const CLUSTER_NODES = 3;

const OWN_PROCESS = ["--daemonize", "no", "--save", ""];
const CLUSTER_NODE = [
  "--bind",
  "127.0.0.1",
  "--cluster-announce-ip",
  "127.0.0.1",
  "--cluster-enabled",
  "yes",
  "--cluster-node-timeout",
  "2000",
];

export interface PrivateRedis {
  /** `unix:///…/redis.sock` */
  readonly url: string;
  /** SIGKILL: nothing is saved or said. */
  kill(): void;
  /** Starts it again after `kill()`, with what it had written to its append-only file. */
  restart(): Promise<void>;
  /** Ends the server; its folder goes. */
  stop(): Promise<void>;
}

export interface FakeClock {
  /** From now on Redis's clock stands at this time, Unix microseconds. */
  set(timeMicroseconds: bigint): void;
}

/** Starts a server on a Unix socket. `appendOnly`: every write is on disk before it is answered. */
export async function startRedis(options: { appendOnly?: boolean } = {}): Promise<PrivateRedis> {
  return startServer(
    options.appendOnly === true ? ["--appendonly", "yes", "--appendfsync", "always"] : [],
    {},
  );
}

let canBuildClock: boolean | null = null;

/**
 * Whether a test can set Redis's clock: it takes preloading, so Linux, and a C compiler, CC or `cc`. Where not, such tests
 * are skipped. `npm test` brings a compiler. Tried once per process.
 */
export function canSetRedisClock(): boolean {
  if (canBuildClock !== null) return canBuildClock;
  const dir = mkdtempSync(join(tmpdir(), "igw-clock-"));
  canBuildClock = process.platform === "linux" && buildClock(dir) !== null;
  rmSync(dir, { recursive: true });
  return canBuildClock;
}

/**
 * The environment of a redis-server whose clock runs so much ahead of the host's, or behind it.
 * @param dir For what is built.
 * @throws Error where `canSetRedisClock` is false.
 */
export function clockAhead(dir: string, milliseconds: number): NodeJS.ProcessEnv {
  const library = buildClock(dir);
  if (library === null) throw new Error(NO_CLOCK);
  return { LD_PRELOAD: library, TEST_CLOCK_AHEAD: String(milliseconds * 1000) };
}

const NO_CLOCK = "setting the clock of Redis takes Linux and a C compiler, `cc`";

/** Builds what sets a server's clock (`clock.c`). Null: there is no compiler. */
function buildClock(dir: string): string | null {
  const file = join(dir, "clock.so");
  const source = fileURLToPath(new URL("clock.c", import.meta.url));
  const built = spawnSync(process.env["CC"] ?? "cc", ["-shared", "-fPIC", "-O2", "-o", file, source]);
  return built.status === 0 ? file : null;
}

/**
 * A server whose clock stands still until it is set; timers inside of Redis run on. As a cluster it is one of a single
 * node, since several would not agree on the time; it refuses what crosses slots all the same.
 * @throws Error where `canSetRedisClock` is false.
 */
export async function startRedisWithClock(
  startMicroseconds: bigint,
  isCluster = false,
): Promise<{ redis: PrivateRedis; clock: FakeClock }> {
  const dir = await mkdtemp(join(tmpdir(), "igw-time-"));
  const library = buildClock(dir);
  if (library === null) throw new Error(NO_CLOCK);
  const path = join(dir, "time");
  writeFileSync(path, formatTime(startMicroseconds));
  const file = openSync(path, "r+");
  const env = { LD_PRELOAD: library, TEST_CLOCK_FILE: path };
  const redis = isCluster ? await startSingleNode(dir, env) : await startServer([], env);
  const stop = async (): Promise<void> => {
    await redis.stop();
    closeSync(file);
    await rm(dir, { recursive: true, force: true });
  };
  // Eight bytes in one write: Redis reads the old time or the new one.
  const clock: FakeClock = { set: (time) => void writeSync(file, formatTime(time), 0, 8, 0) };
  if (isCluster) await joinSingleNode(redis.url, clock, startMicroseconds);
  return { redis: { ...redis, stop }, clock };
}

/** A node alone is writable two seconds after its first look at the state; its clock is set forward for that. */
async function joinSingleNode(url: string, clock: FakeClock, startMicroseconds: bigint): Promise<void> {
  const client = new Redis(url, { protocol: 2 });
  try {
    await client.call("cluster", "addslots", ...Array.from({ length: SLOTS }, (_, slot) => String(slot)));
    let time = startMicroseconds - 60_000_000n;
    await waitFor("the cluster to be complete", async () => {
      clock.set((time += 1_000_000n));
      return String(await client.call("cluster", "info")).includes("cluster_state:ok");
    });
  } finally {
    client.disconnect();
    clock.set(startMicroseconds);
  }
}

export interface ClusterNode {
  readonly port: number;
  readonly child: Child;
}

export interface RedisCluster {
  readonly urls: readonly string[];
  /** The masters; each has a third of the slots, in this order. */
  readonly nodes: readonly ClusterNode[];
  /** One more node, which knows nobody yet. */
  addNode(args: readonly string[]): Promise<ClusterNode>;
  stop(): Promise<void>;
}

/** Three masters on loopback ports that share the slots. */
export async function startRedisCluster(args: readonly string[] = []): Promise<RedisCluster> {
  const dir = await mkdtemp(join(tmpdir(), "igw-cluster-"));
  const nodes: ClusterNode[] = [];
  const added: ClusterNode[] = [];
  try {
    for (let index = 0; index < CLUSTER_NODES; index += 1) nodes.push(await startNode(dir, {}, args));
    await joinNodes(nodes.map(({ port }) => port));
  } catch (error) {
    for (const { child } of nodes) child.signal("SIGKILL");
    throw error;
  }
  return {
    urls: nodes.map(({ port }) => `redis://127.0.0.1:${port}`),
    nodes,
    async addNode(more) {
      const node = await startNode(dir, {}, more);
      added.push(node);
      return node;
    },
    async stop() {
      const children = [...nodes, ...added].map(({ child }) => child);
      for (const child of children) child.signal("SIGCONT");
      await Promise.all(children.map((child) => child.stop()));
      await rm(dir, { recursive: true, force: true });
    },
  };
}

async function startServer(args: readonly string[], env: Record<string, string>): Promise<PrivateRedis> {
  // Short: a Unix socket's path may have 107 bytes.
  const dir = await mkdtemp(join(tmpdir(), "igw-redis-"));
  const socket = join(dir, "redis.sock");
  const run = async (): Promise<Child> => {
    const child = startChild(
      findRedisServer(),
      [...OWN_PROCESS, "--port", "0", "--unixsocket", socket, "--dir", dir, ...args],
      { env: { ...process.env, ...env } },
    );
    await answering(child, { path: socket });
    return child;
  };
  let child = await run().catch(async (error: unknown) => {
    await rm(dir, { recursive: true, force: true });
    throw error;
  });
  return {
    url: `unix://${socket}`,
    kill: () => child.signal("SIGKILL"),
    async restart() {
      await child.waitForEnd();
      child = await run();
    },
    async stop() {
      await child.stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

async function startSingleNode(dir: string, env: Record<string, string>): Promise<PrivateRedis> {
  const { port, child } = await startNode(dir, env);
  const refuse = (): never => {
    throw new Error("a node whose clock is set is not restarted");
  };
  return {
    url: `redis://127.0.0.1:${port}`,
    kill: refuse,
    restart: refuse,
    stop: async () => void (await child.stop()),
  };
}

async function startNode(
  dir: string,
  env: Record<string, string> = {},
  more: readonly string[] = [],
): Promise<ClusterNode> {
  // The cluster's own port is this one + 10000.
  const port = await findFreePort();
  const home = join(dir, String(port));
  await mkdir(home);
  const args = [...OWN_PROCESS, ...CLUSTER_NODE, "--port", String(port), "--dir", home, ...more];
  const child = startChild(findRedisServer(), args, { env: { ...process.env, ...env } });
  await answering(child, { host: "127.0.0.1", port });
  return { port, child };
}

async function joinNodes(ports: readonly number[]): Promise<void> {
  const clients = ports.map((port) => new Redis({ host: "127.0.0.1", port, protocol: 2 }));
  try {
    const share = Math.ceil(SLOTS / clients.length);
    for (const [index, client] of clients.entries()) {
      const slots = Array.from({ length: share }, (_, slot) => index * share + slot).filter(
        (slot) => slot < SLOTS,
      );
      await client.call("cluster", "addslots", ...slots.map(String));
      await client.call("cluster", "meet", "127.0.0.1", String(ports[0]));
    }
    await Promise.all(
      clients.map((client) =>
        waitFor("the cluster to be complete", async () => {
          const info = String(await client.call("cluster", "info"));
          const known = String(await client.call("cluster", "nodes"))
            .trim()
            .split("\n").length;
          return info.includes("cluster_state:ok") && known === clients.length;
        }),
      ),
    );
  } finally {
    for (const client of clients) client.disconnect();
  }
}

async function answering(
  child: Child,
  address: { path: string } | { host: string; port: number },
): Promise<void> {
  const client = new Redis({ ...address, protocol: 2, retryStrategy: () => 10, maxRetriesPerRequest: null });
  // Refused connections until it listens.
  client.on("error", () => undefined);
  try {
    await waitFor("redis-server to answer", async () => {
      if (child.ended !== null) {
        throw new Error(`redis-server ended (${child.ended}): ${child.stdoutLines.join("\n")}`);
      }
      return client.status === "ready" && (await client.ping()) === "PONG";
    });
  } catch (error) {
    child.signal("SIGKILL");
    throw error;
  } finally {
    client.disconnect();
  }
}

/** The program: `REDIS_SERVER_BIN`, else on PATH. */
export function findRedisServer(): string {
  const named = process.env["REDIS_SERVER_BIN"];
  if (named !== undefined && named !== "") return named;
  try {
    return execFileSync("which", ["redis-server"], { encoding: "utf8" }).trim();
  } catch (error) {
    throw new Error("no redis-server on PATH: install it, or name it in REDIS_SERVER_BIN", { cause: error });
  }
}

function formatTime(timeMicroseconds: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  if (endianness() === "LE") bytes.writeBigInt64LE(timeMicroseconds);
  else bytes.writeBigInt64BE(timeMicroseconds);
  return bytes;
}
