import { existsSync, mkdirSync } from "node:fs";
import { createConnection } from "node:net";
import { join } from "node:path";
import { runCommand } from "../setup/run-command.js";
import { pause } from "../../shared/event-loop/wait.ts";
import { cutHalfTransaction } from "./half-transaction.ts";
import { startGuarded } from "./guarded-process.ts";
import { LaunchError } from "./launch-error.ts";
import type { ManagedProcess } from "./managed-process.ts";
import { NOTICE_AFTER_MS, printWaiting } from "./waiting.ts";

/** Loading a large append-only file takes time. */
const READY_BOUND_MS = 120_000;
const POLL_MS = 10;
/** Directory within `dir`, for Redis 7 and newer. */
const APPEND_ONLY_FOLDER = "appendonlydir";
const PING_TIMEOUT_MS = 1_000;

export interface PrivateRedisOptions {
  /** Server program. */
  readonly program: string;
  readonly socket: string;
  readonly dataDir: string;
  readonly logPath: string;
  readonly env: NodeJS.ProcessEnv;
}

/**
 * Starts the private Redis: on a Unix socket only, with an append-only file synced each second and without
 * eviction.
 * @throws LaunchError if the data belongs to a newer Redis. `waitForRedis` reports whether it started.
 */
export async function startPrivateRedis(options: PrivateRedisOptions): Promise<ManagedProcess> {
  const folder = join(options.dataDir, "redis");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  await refuseOlderServer(options.program, folder);
  await cutHalfTransaction(options.program, join(folder, APPEND_ONLY_FOLDER));
  const settings = {
    port: "0",
    unixsocket: options.socket,
    unixsocketperm: "700",
    dir: folder,
    appendonly: "yes",
    appendfsync: "everysec",
    "maxmemory-policy": "noeviction",
    save: "",
    databases: "1",
    daemonize: "no",
  };
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
  const redis = startGuarded({
    name: "Redis",
    command: options.program,
    args,
    env: options.env,
    logPath: options.logPath,
  });
  await schedulePolitely(redis, options.env);
  return redis;
}

/**
 * Sets SCHED_BATCH (sched(7)) if the system supports it. A normal process may preempt the one that wakes it:
 * a worker that has sent a charge would stall while Redis executes it, together with its reply to Envoy,
 * which leaves after the charge in the same turn. Redis's share of CPU time stays the same.
 */
async function schedulePolitely({ child }: ManagedProcess, env: NodeJS.ProcessEnv): Promise<void> {
  if (child.pid === undefined) return;
  await runCommand("chrt", ["--batch", "--pid", "0", String(child.pid)], { env, timeoutMs: 5_000 });
}

/**
 * Resolves when the server answers PING. Prints a notice after two seconds.
 * @throws LaunchError with its last output if it ends, or does not answer within two minutes.
 */
export async function waitForRedis(redis: ManagedProcess, socket: string): Promise<void> {
  const startMs = performance.now();
  const deadlineMs = startMs + READY_BOUND_MS;
  let isPrinted = false;
  while (!(await answersPing(socket))) {
    if (!isPrinted && performance.now() - startMs > NOTICE_AFTER_MS) {
      printWaiting(`unix://${socket}`);
      isPrinted = true;
    }
    if (redis.hasEnded) throw new LaunchError(`Redis ended (${await redis.ended}).\n${redis.describeLog()}`);
    if (performance.now() > deadlineMs) {
      throw new LaunchError(`Redis doesn't respond.\n${redis.describeLog()}`);
    }
    await pause(POLL_MS);
  }
}

/**
 * Rejects an older server: Redis 7 stores its append-only file in a directory that Redis 6 ignores, so it
 * would start empty, without keys and spend.
 */
async function refuseOlderServer(program: string, folder: string): Promise<void> {
  if (!existsSync(join(folder, APPEND_ONLY_FOLDER))) return;
  const { stdout } = await runCommand(program, ["--version"], { timeoutMs: 10_000 });
  const major = Number(/v=(\d+)\./.exec(stdout)?.[1] ?? "0");
  if (major >= 7) return;
  throw new LaunchError(
    `${folder} was written by Redis 7 or newer, but ${program} is older. Install redis-server 7.`,
  );
}

/** Returns whether it answers; it replies `-LOADING` while it loads its file. */
function answersPing(socket: string): Promise<boolean> {
  return new Promise((resolve) => {
    const connection = createConnection({ path: socket, timeout: PING_TIMEOUT_MS });
    const settle = (answered: boolean): void => {
      connection.destroy();
      resolve(answered);
    };
    connection.once("connect", () => connection.write("PING\r\n"));
    connection.once("data", (bytes: Buffer) => settle(bytes.toString("latin1").startsWith("+PONG")));
    connection.once("error", () => settle(false));
    connection.once("timeout", () => settle(false));
    connection.once("close", () => settle(false));
  });
}
