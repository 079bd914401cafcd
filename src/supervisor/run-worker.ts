import { setFlagsFromString } from "node:v8";
import type { Config } from "../config/schema.ts";
import { receiveCatalog, receiveConfig } from "../config/transfer.ts";
import { type Channel, createListeners } from "../host/channel.ts";
import { createDeferred } from "../event-loop/deferred.ts";
import type { RunningWorker, WorkerOptions } from "./gateway-parts.ts";
import { onParentGone } from "./parent-process.ts";
import { parseWorkerOrder, type WorkerReport } from "./messages.ts";

export interface RunWorkerOptions {
  readonly index: number;
  readonly address: string;
  readonly start: (options: WorkerOptions) => Promise<RunningWorker>;
}

/** What a worker may still take when nobody asked it to end: its supervisor is gone, or the host goes down. */
const ORPHAN_DRAIN_MS = 3_000;
const TERMINATED_DRAIN_MS = 30_000;
/**
 * V8 learns from a start's first collections that what some places allocate lives long, and puts all that they make in the
 * old generation from then on. Here that hit the arguments of each command to Redis, and with them its text: 2.4 kB of a
 * request that only a full collection frees. A V8 that does not know the flag passes it over.
 */
const YOUNG_ONLY = "--no-allocation-site-pretenuring";

/**
 * The life of one worker process: asks for its configuration, starts what runs in it, reports, obeys, and ends. It ends with the supervisor: when
 * the channel closes, nobody would restart or stop it any more. SIGINT is the terminal's, which the supervisor has got
 * as well, and decides.
 */
export async function runWorker(options: RunWorkerOptions): Promise<void> {
  setFlagsFromString(YOUNG_ONLY);
  const channel = createWorkerChannel(options.index);
  const configuration = createDeferred<Config>();
  let running: RunningWorker | null = null;
  let newCatalog: Config["catalog"] | null = null;
  let ending = false;
  const end = (boundMs: number): void => {
    if (ending) return;
    ending = true;
    void drainAndExit(running, boundMs);
  };
  process.on("SIGINT", () => undefined);
  process.on("SIGHUP", () => undefined);
  process.on("SIGTERM", () => end(TERMINATED_DRAIN_MS));
  onParentGone(() => end(ORPHAN_DRAIN_MS));
  process.on("message", (value) => {
    const order = parseWorkerOrder(value);
    if (order?.type === "drain") end(order.boundMs);
    if (order?.type === "application") channel.deliver(order.body);
    if (order?.type === "configuration") configuration.resolve(receiveConfig(order.config));
    if (order?.type !== "catalog") return;
    newCatalog = receiveCatalog(order.catalog);
    running?.replaceCatalog(newCatalog);
  });
  try {
    report({ type: "configuration_wanted" });
    const config = await configuration.promise;
    const { index, address } = options;
    running = await options.start({ config, index, address, channel: channel.channel });
    // It came while this one was starting.
    if (newCatalog !== null) running.replaceCatalog(newCatalog);
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

function createWorkerChannel(index: number): { channel: Channel; deliver: (body: unknown) => void } {
  const listeners = createListeners();
  const channel: Channel = {
    send: (body) => report({ type: "application", body }),
    onMessage: listeners.add,
  };
  return { channel, deliver: (body) => listeners.deliver(body, index) };
}

function report(message: WorkerReport): void {
  // The callback takes what is lost when the supervisor goes at this moment.
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
}
