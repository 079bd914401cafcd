import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { Config } from "../../shared/config/schema.ts";
import { receiveCatalog, receiveConfig } from "../../shared/config/transfer.ts";
import { type Channel, createListeners } from "../../shared/host/channel.ts";
import { createDeferred } from "../../shared/event-loop/deferred.ts";
import type { ProcessOptions, RunningAdmin, RunningProcess, WorkerOptions } from "./gateway-parts.ts";
import { onParentEnd } from "./parent-process.ts";
import { parseWorkerOrder, type WorkerReport } from "./messages.ts";

export interface RunWorkerOptions {
  readonly index: number;
  readonly address: string;
  readonly start: (options: WorkerOptions) => Promise<RunningProcess>;
}

export interface RunAdminOptions {
  readonly start: (options: ProcessOptions) => Promise<RunningAdmin>;
}

interface Child {
  /** Index for listeners on the channel. */
  readonly index: number;
  readonly start: (known: ProcessOptions) => Promise<RunningProcess & Partial<Pick<RunningAdmin, "url">>>;
  /** Time to drain after the supervisor has ended. */
  readonly orphanDrainMs: number;
  /**
   * Time to drain on SIGTERM, which a host sends to all processes when it shuts down; null: wait for the
   * supervisor's order.
   */
  readonly terminatedDrainMs: number | null;
}

/**
 * V8's flags of a worker. They are set here and not on its command line, where most flags make Node compile
 * its own modules again. V8 ignores unknown flags.
 *
 * - No pretenuring: from the first collections V8 concludes that some allocation sites are long-lived, and
 *   allocates everything of theirs in the old generation. Here that affected the arguments and text of each
 *   Redis command: 2.4 kB per request that only a full collection frees.
 * - Scavenges on one thread: several take more CPU for the few megabytes that survive.
 * - Baseline code from a function's first call: most of a worker's code runs a few times per request.
 * - `gc` for contexts made from now on, see `collectGarbage`.
 */
const V8_FLAGS = [
  "--no-allocation-site-pretenuring",
  "--no-parallel-scavenge",
  "--always-sparkplug",
  "--expose-gc",
];

/** Runs a worker process. */
export async function runWorker({ index, address, start }: RunWorkerOptions): Promise<void> {
  for (const flag of V8_FLAGS) setFlagsFromString(flag);
  await runChild({
    index,
    start: async (known) => {
      const running = await start({ ...known, index, address });
      collectGarbage();
      return running;
    },
    orphanDrainMs: 3_000,
    terminatedDrainMs: 30_000,
  });
}

/** Collects what the start left. Otherwise V8 copies it twice, and marks the heap, during the first requests. */
function collectGarbage(): void {
  runInNewContext("globalThis.gc?.()");
}

/** Runs the admin process. Without its supervisor it ends at once: another gateway may need its port. */
export async function runAdmin({ start }: RunAdminOptions): Promise<void> {
  await runChild({ index: 0, start, orphanDrainMs: 0, terminatedDrainMs: null });
}

/**
 * Runs a process started by the supervisor: requests its configuration, starts the services, reports, follows
 * orders, and ends. Also ends when the channel to the supervisor closes, because the supervisor could then neither
 * stop nor restart it. Ignores SIGINT, which the terminal sends to the supervisor as well.
 */
async function runChild(child: Child): Promise<void> {
  const channel = createChildChannel(child.index);
  const configuration = createDeferred<Config>();
  let running: RunningProcess | null = null;
  let newCatalog: Config["catalog"] | null = null;
  let ending = false;
  const end = (boundMs: number): void => {
    if (ending) return;
    ending = true;
    void drainAndExit(running, boundMs);
  };
  const { terminatedDrainMs } = child;
  process.on("SIGINT", () => undefined);
  process.on("SIGHUP", () => undefined);
  process.on("SIGTERM", () => terminatedDrainMs !== null && end(terminatedDrainMs));
  onParentEnd(() => {
    if (!ending && child.orphanDrainMs === 0) process.exit(0);
    end(child.orphanDrainMs);
  });
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
    const started = await child.start({ config, channel: channel.channel });
    running = started;
    // It arrived during the start.
    if (newCatalog !== null) running.replaceCatalog(newCatalog);
    report({ type: "ready", ...(started.url === undefined ? {} : { url: started.url }) });
  } catch (error) {
    ending = true;
    report({ type: "failed", message: error instanceof Error ? error.message : String(error) });
    process.exitCode = 1;
    process.disconnect();
    throw error;
  }
}

async function drainAndExit(running: RunningProcess | null, boundMs: number): Promise<void> {
  // Enforces the bound even if draining hangs.
  setTimeout(() => process.exit(1), boundMs + 500).unref();
  try {
    await running?.drain(boundMs);
    process.exit(0);
  } catch (error) {
    process.stderr.write(`${process.argv[2] ?? "process"}: not everything was settled: ${String(error)}\n`);
    process.exit(1);
  }
}

function createChildChannel(index: number): { channel: Channel; deliver: (body: unknown) => void } {
  const listeners = createListeners();
  const channel: Channel = {
    send: (body) => report({ type: "application", body }),
    onMessage: listeners.add,
  };
  return { channel, deliver: (body) => listeners.deliver(body, index) };
}

function report(message: WorkerReport): void {
  // The callback ignores failures if the supervisor disappears at this moment.
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
}
