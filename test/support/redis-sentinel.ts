/** A master, a replica and three Sentinels on loopback ports: what a failover is like. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { type Child, startChild } from "./child.ts";
import { findFreePort } from "./free-port.ts";
import { waitFor } from "./wait.ts";

export const MASTER_NAME = "gateway";
const SENTINELS = 3;
const QUORUM = 2;
/** A master that has not answered for so long is replaced. */
const DOWN_AFTER_MS = 1_000;

export interface SentinelRedis {
  /** URLs of the Sentinels. */
  readonly sentinels: readonly string[];
  readonly name: string;
  /** Node of the deployment by the role that it has at the start. */
  readonly master: SentinelNode;
  readonly replica: SentinelNode;
  /** Resolves when the Sentinels have made this node the master; the replica of the start when left out. */
  waitForFailover(heir?: SentinelNode): Promise<void>;
  /** Starts a node again that was killed, as the replica of the other one; resolves when that may die in its turn. */
  restartAsReplica(node: SentinelNode): Promise<void>;
  stop(): Promise<void>;
}

export interface SentinelNode {
  readonly port: number;
  /** SIGKILL */
  kill(): void;
  /** SIGSTOP: it stands still with its connections open. */
  freeze(): void;
  /** SIGCONT */
  thaw(): void;
  command(...args: readonly string[]): Promise<unknown>;
}

export async function startRedisWithSentinels(): Promise<SentinelRedis> {
  const dir = await mkdtemp(join(tmpdir(), "igw-sentinel-"));
  /** By the port. */
  const children = new Map<number, Child>();
  const run = async (name: string, port: number, args: readonly string[]): Promise<void> => {
    const program = process.env["REDIS_SERVER_BIN"] ?? "redis-server";
    const common = ["--port", String(port), "--bind", "127.0.0.1", "--dir", join(dir, name)];
    children.set(port, startChild(program, [...args, ...common, "--daemonize", "no"]));
    await waitFor(`${name} to answer`, async () => (await callRedis(port, "PING")) === "PONG");
  };
  const start = async (name: string, args: readonly string[]): Promise<number> => {
    const port = await findFreePort();
    await mkdir(join(dir, name));
    await run(name, port, args);
    return port;
  };
  const server = ["--save", "", "--appendonly", "yes"];
  const master = await start("master", server);
  const replica = await start("replica", [...server, "--replicaof", "127.0.0.1", String(master)]);
  const waitForLink = (port: number) =>
    waitFor("the replica to follow", async () =>
      String(await callRedis(port, "INFO", "replication")).includes("master_link_status:up"),
    );
  await waitForLink(replica);
  const sentinels: number[] = [];
  for (let index = 0; index < SENTINELS; index += 1) {
    const file = join(dir, `sentinel-${index}.conf`);
    await writeFile(file, formatSentinel(master));
    sentinels.push(await start(`sentinel-${index}`, [file, "--sentinel"]));
  }
  await waitFor("the Sentinels to know each other and the replica", async () => {
    const known = await Promise.all(sentinels.map((port) => readMaster(port)));
    return known.every(
      (each) => each["num-other-sentinels"] === String(SENTINELS - 1) && each["num-slaves"] === "1",
    );
  });
  const node = (port: number): SentinelNode => ({
    port,
    kill: () => children.get(port)?.signal("SIGKILL"),
    freeze: () => children.get(port)?.signal("SIGSTOP"),
    thaw: () => children.get(port)?.signal("SIGCONT"),
    command: (...args) => callRedis(port, ...args),
  });
  return {
    sentinels: sentinels.map((port) => `redis://127.0.0.1:${port}`),
    name: MASTER_NAME,
    master: node(master),
    replica: node(replica),
    waitForFailover: async (heir = node(replica)) => {
      const isMaster = async () => String(await callRedis(heir.port, "ROLE")).startsWith("master");
      await waitFor("the replica to become the master", isMaster, { timeoutMs: 300_000, intervalMs: 50 });
    },
    async restartAsReplica({ port }) {
      const [name, other] = port === master ? ["master", replica] : ["replica", master];
      await run(name, port, [...server, "--replicaof", "127.0.0.1", String(other)]);
      await waitForLink(port);
      await waitFor("the Sentinels to know the roles", () => knowRoles(sentinels, other), {
        timeoutMs: 60_000,
        intervalMs: 100,
      });
    },
    async stop() {
      const running = [...children.values()];
      for (const child of running) {
        child.signal("SIGCONT");
        child.signal("SIGKILL");
      }
      await Promise.all(running.map((child) => child.waitForEnd()));
      await rm(dir, { recursive: true, force: true });
    },
  };
}

function formatSentinel(masterPort: number): string {
  return [
    `sentinel monitor ${MASTER_NAME} 127.0.0.1 ${masterPort} ${QUORUM}`,
    `sentinel down-after-milliseconds ${MASTER_NAME} ${DOWN_AFTER_MS}`,
    `sentinel failover-timeout ${MASTER_NAME} 5000`,
    `sentinel parallel-syncs ${MASTER_NAME} 1`,
    "",
  ].join("\n");
}

/** Whether all take this node for the master and the other one for a replica that is there. */
async function knowRoles(sentinels: readonly number[], masterPort: number): Promise<boolean> {
  const known = await Promise.all(
    sentinels.map(async (port) => {
      const { port: of, flags } = await readMaster(port);
      const replicas = (await callRedis(port, "SENTINEL", "REPLICAS", MASTER_NAME)) as string[][];
      const areThere = replicas.map((fields) => readFields(fields)["flags"] === "slave");
      return of === String(masterPort) && flags === "master" && areThere.length === 1 && areThere[0] === true;
    }),
  );
  return known.every(Boolean);
}

async function readMaster(sentinelPort: number): Promise<Record<string, string>> {
  return readFields((await callRedis(sentinelPort, "SENTINEL", "MASTER", MASTER_NAME)) as string[]);
}

function readFields(fields: readonly string[]): Record<string, string> {
  const pairs = Array.from({ length: fields.length / 2 }, (_, index) =>
    fields.slice(2 * index, 2 * index + 2),
  );
  return Object.fromEntries(pairs) as Record<string, string>;
}

/** One command on a connection of its own. */
export async function callRedis(port: number, ...args: readonly string[]): Promise<unknown> {
  const client = new Redis({ port, protocol: 2, maxRetriesPerRequest: 0, retryStrategy: () => null });
  client.on("error", () => undefined);
  try {
    return await client.call(args[0] ?? "PING", ...args.slice(1));
  } finally {
    client.disconnect();
  }
}
