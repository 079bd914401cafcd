/** A Redis that a test can break: killed, frozen, restarted with what it had written. */
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { cutHalfTransaction } from "../../src/operation/launcher/half-transaction.ts";
import { type Child, startChild } from "../support/child.ts";
import { clockAhead } from "../support/redis.ts";
import { waitFor } from "../support/wait.ts";

export interface FaultRedis {
  /** `unix:///…/redis.sock` */
  readonly url: string;
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
  /** Starts it again and resolves when it answers. */
  restart(): Promise<void>;
  /** Copies what is on disk at this moment, as a backup does; the former copy goes. */
  snapshot(): Promise<void>;
  /** While it is killed: puts the copy in the place of what is on disk. */
  restoreSnapshot(): Promise<void>;
  /** SIGSTOP: connections stay open and nothing answers. */
  freeze(): void;
  /** SIGCONT */
  thaw(): void;
  /** One command, on a connection of its own. */
  command(...args: readonly string[]): Promise<unknown>;
  stop(): Promise<void>;
}

/** `always`: with `everysec`, Redis replies while a sync is slow, and loses that when it is killed (docs/durability.md). */
const APPEND_ONLY = ["--appendonly", "yes", "--appendfsync", "always"];
const SETTINGS = [...APPEND_ONLY, "--port", "0", "--save", "", "--daemonize", "no"];

export interface FaultRedisOptions {
  /** Of its clock, before the host's; 0 when left out. */
  readonly clockAheadMs?: number;
}

export async function startFaultRedis({ clockAheadMs = 0 }: FaultRedisOptions = {}): Promise<FaultRedis> {
  const dir = await mkdtemp(join(tmpdir(), "igw-fault-"));
  const socket = join(dir, "redis.sock");
  const [files, kept] = [join(dir, "appendonlydir"), join(dir, "kept")];
  const program = process.env["REDIS_SERVER_BIN"] ?? "redis-server";
  const command: FaultRedis["command"] = async (name, ...args) => {
    const client = new Redis({
      path: socket,
      protocol: 2,
      maxRetriesPerRequest: 0,
      retryStrategy: () => null,
    });
    client.on("error", () => undefined);
    try {
      return await client.call(name ?? "PING", ...args);
    } finally {
      client.disconnect();
    }
  };
  const args = [...SETTINGS, "--unixsocket", socket, "--dir", dir];
  const env = { ...process.env, ...(clockAheadMs !== 0 && clockAhead(dir, clockAheadMs)) };
  const start = async (): Promise<Child> => {
    const child = startChild(program, args, { env });
    await waitFor("redis-server to answer", async () => {
      if (child.ended !== null) throw new Error(`redis-server ended: ${child.stdoutLines.join("\n")}`);
      return (await command("PING")) === "PONG";
    });
    return child;
  };
  let child = await start();
  return {
    url: `unix://${socket}`,
    async kill() {
      child.signal("SIGKILL");
      await child.waitForEnd();
    },
    async restart() {
      // As docs/durability.md asks of who runs one: the end of a file that was copied, or killed, may be half a transaction.
      await cutHalfTransaction(program, files);
      child = await start();
    },
    async snapshot() {
      await rm(kept, { recursive: true, force: true });
      await cp(files, kept, { recursive: true });
    },
    async restoreSnapshot() {
      await rm(files, { recursive: true });
      await cp(kept, files, { recursive: true });
    },
    freeze: () => child.signal("SIGSTOP"),
    thaw: () => child.signal("SIGCONT"),
    command,
    async stop() {
      child.signal("SIGCONT");
      await child.stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
}
