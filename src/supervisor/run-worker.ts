import type { Config } from "../config/schema.ts";
import type { Channel, RunningWorker, WorkerOptions } from "./gateway-parts.ts";
import { parseWorkerOrder, type WorkerReport } from "./messages.ts";

export interface RunWorkerOptions {
  readonly index: number;
  readonly address: string;
  /** Reads the configuration, also again on each reload. */
  readonly loadConfig: () => Config | Promise<Config>;
  readonly start: (options: WorkerOptions) => Promise<RunningWorker>;
  /** A reload that failed: the old configuration stays. */
  readonly onReloadFailure: (error: unknown) => void;
}

/** What a worker may still take when nobody asked it to end: its supervisor is gone, or the host goes down. */
const ORPHAN_DRAIN_MS = 3_000;
const TERMINATED_DRAIN_MS = 30_000;

/**
 * The life of one worker process: starts what runs in it, reports, obeys, and ends. It ends with the supervisor: when
 * the channel closes, nobody would restart or stop it any more. SIGINT is the terminal's, which the supervisor has got
 * as well, and decides.
 */
export async function runWorker(options: RunWorkerOptions): Promise<void> {
  const channel = createWorkerChannel(options.index);
  let running: RunningWorker | null = null;
  let ending = false;
  const end = (boundMs: number): void => {
    if (ending) return;
    ending = true;
    void drainAndExit(running, boundMs);
  };
  process.on("SIGINT", () => undefined);
  process.on("SIGHUP", () => undefined);
  process.on("SIGTERM", () => end(TERMINATED_DRAIN_MS));
  process.on("disconnect", () => end(ORPHAN_DRAIN_MS));
  process.on("message", (value) => {
    const order = parseWorkerOrder(value);
    if (order?.type === "drain") end(order.boundMs);
    if (order?.type === "application") channel.deliver(order.body);
    if (order?.type === "reload") void reload(running, options);
  });
  try {
    const config = await options.loadConfig();
    const { index, address } = options;
    running = await options.start({ config, index, address, channel: channel.channel });
    report({ type: "ready" });
  } catch (error) {
    report({ type: "failed", message: error instanceof Error ? error.message : String(error) });
    process.exitCode = 1;
    process.disconnect();
    throw error;
  }
}

async function drainAndExit(running: RunningWorker | null, boundMs: number): Promise<void> {
  // A drain that hangs must not keep the process: the bound is kept here, whatever happens inside.
  setTimeout(() => process.exit(1), boundMs + 500).unref();
  try {
    await running?.drain(boundMs);
    process.exit(0);
  } catch (error) {
    process.stderr.write(`worker: not everything was settled: ${String(error)}\n`);
    process.exit(1);
  }
}

async function reload(running: RunningWorker | null, options: RunWorkerOptions): Promise<void> {
  try {
    running?.reload(await options.loadConfig());
  } catch (error) {
    options.onReloadFailure(error);
  }
}

function createWorkerChannel(index: number): { channel: Channel; deliver: (body: unknown) => void } {
  let listener: (message: unknown, workerIndex: number) => void = () => undefined;
  const channel: Channel = {
    send: (body) => report({ type: "application", body }),
    onMessage: (next) => {
      listener = next;
    },
  };
  return { channel, deliver: (body) => listener(body, index) };
}

function report(message: WorkerReport): void {
  // The callback takes what is lost when the supervisor goes at this moment.
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
}
