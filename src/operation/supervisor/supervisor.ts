/**
 * Supervises the worker processes of a host: starts them, restarts crashed ones, passes messages on, and
 * stops them. It never handles a request: while a worker is gone, Envoy's health checks send its work to the
 * others; with a single worker requests get 503 until it is back, a fraction of a second later. Workers start
 * even without Redis and report their own readiness.
 * If this process dies, the workers notice that the channel closes and end by themselves.
 */
import { type Channel, createListeners } from "../../shared/host/channel.ts";
import { type ProcessEntry, ProcessSlot, type SlotPlace } from "./process-slot.ts";
import type { BackoffOptions } from "./backoff.ts";
import { transferConfig } from "../../shared/config/transfer.ts";
import type { Config } from "../../shared/config/schema.ts";

export interface SupervisorOptions {
  /** Configuration of every worker, which reads no file. */
  readonly config: Config;
  readonly entry: ProcessEntry;
  /** One worker each; see `listWorkerAddresses`. */
  readonly addresses: readonly string[];
  /** Logs a worker that ended unexpectedly. */
  readonly onRestart: (crash: WorkerCrash) => void;
  /** Time for a worker to become ready. Default: 30 s. */
  readonly startBoundMs?: number;
  /** Default: 100 ms doubling to 5 s; a run of 10 s is healthy. */
  readonly backoff?: BackoffOptions;
}

export interface WorkerCrash {
  readonly index: number;
  readonly exitedPid: number | undefined;
  /** "signal SIGKILL", "exit code 1" */
  readonly how: string;
  /** Wait before the restart. */
  readonly delayMs: number;
}

/**
 * Semi-space in MiB, twice V8's default: data of requests in flight is copied half as often, for about 30 MB
 * of memory. Set from the start, so that the program's own objects are not copied while it loads, which saves
 * a seventh of a start's CPU time.
 */
const NEW_SPACE = ["--min-semi-space-size=32", "--max-semi-space-size=32"];

export class Supervisor {
  readonly #slots: readonly ProcessSlot[];
  readonly #startBoundMs: number | undefined;
  #config: Config;
  readonly #listeners = createListeners();

  constructor(options: SupervisorOptions) {
    this.#config = options.config;
    this.#startBoundMs = options.startBoundMs;
    this.#slots = options.addresses.map((address, index) => {
      const events = {
        readConfig: () => transferConfig(this.#config),
        onMessage: (body: unknown) => this.#listeners.deliver(body, index),
        onRestart: (crash: Omit<WorkerCrash, "index">) => options.onRestart({ index, ...crash }),
      };
      return new ProcessSlot(placeOfWorker(index, address), options.entry, events, options.backoff);
    });
  }

  /** Process ids of the running workers by index. */
  get workerPids(): readonly number[] {
    return this.#slots.flatMap((slot) => (slot.pid === null ? [] : [slot.pid]));
  }

  /** Messages to all workers, and from any of them. */
  get channel(): Channel {
    return {
      send: (body) => this.#slots.forEach((slot) => slot.send({ type: "application", body })),
      onMessage: this.#listeners.add,
    };
  }

  /**
   * Starts all workers and resolves once every one is ready.
   * @throws Error of the first that cannot start; none is left running.
   */
  async start(): Promise<void> {
    try {
      await Promise.all(this.#slots.map((slot) => slot.start(this.#startBoundMs)));
    } catch (error) {
      this.kill();
      throw error;
    }
  }

  /** Passes the catalog to every worker, including later ones. */
  replaceCatalog(catalog: Config["catalog"]): void {
    this.#config = Object.freeze({ ...this.#config, catalog });
    for (const slot of this.#slots) slot.send({ type: "catalog", catalog });
  }

  /** Stops all workers within `boundMs` plus two seconds. Returns whether each of them ended well. */
  async stop(boundMs: number): Promise<boolean> {
    const ends = await Promise.all(this.#slots.map((slot) => slot.stop(boundMs)));
    return ends.every((orderly) => orderly);
  }

  /** Kills all workers. */
  kill(): void {
    for (const slot of this.#slots) slot.kill();
  }
}

function placeOfWorker(index: number, address: string): SlotPlace {
  return {
    name: `worker ${index}`,
    command: ["worker", "--index", String(index), "--address", address],
    socket: /^unix:(.+)$/.exec(address)?.[1] ?? null,
    execArgv: NEW_SPACE,
    // Envoy's health checks skip a hanging worker; killing it would lose requests that may still end.
    silenceBoundMs: null,
  };
}
