/** A Redis that a test can break: killed, frozen, restarted with what it had written. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { type Child, startChild } from "../support/child.ts";
import { waitFor } from "../support/wait.ts";

export interface FaultRedis {
  /** `unix:///…/redis.sock` */
  readonly url: string;
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
  /** Starts it again and resolves when it answers. */
  restart(): Promise<void>;
  /** SIGSTOP: connections stay open and nothing answers. */
  freeze(): void;
  /** SIGCONT */
  thaw(): void;
  /** One command, on a connection of its own. */
  command(...args: readonly string[]): Promise<unknown>;
  stop(): Promise<void>;
}

/** As the gateway's own private Redis is set up: append-only file, synced each second. */
const SETTINGS = [
  "--port",
  "0",
  "--appendonly",
  "yes",
  "--appendfsync",
  "everysec",
  "--save",
  "",
  "--daemonize",
  "no",
];

export async function startFaultRedis(): Promise<FaultRedis> {
  const dir = await mkdtemp(join(tmpdir(), "igw-fault-"));
  const socket = join(dir, "redis.sock");
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
  const start = async (): Promise<Child> => {
    const child = startChild(program, [...SETTINGS, "--unixsocket", socket, "--dir", dir]);
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
      child = await start();
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
