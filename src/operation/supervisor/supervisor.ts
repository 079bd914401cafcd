/**
 * The life of the worker processes of one host: starts them, restarts what crashes, passes on what they must know,
 * ends them orderly. It never touches a request: while a worker is gone, Envoy's health checks send its work to the
 * others, and with a single worker requests are answered 503 until it is back, a fraction of a second later. Redis may
 * be gone at any time: workers start without it and say by themselves whether they are ready.
 *
 * When this process dies, the workers see the channel close and end by themselves.
 */
import { type Channel, createListeners } from "../../shared/host/channel.ts";
import { type ProcessEntry, ProcessSlot, type SlotPlace } from "./process-slot.ts";
import type { BackoffOptions } from "./backoff.ts";
import { transferConfig } from "../../shared/config/transfer.ts";
import type { Config } from "../../shared/config/schema.ts";

export interface SupervisorOptions {
  /** What every worker runs with; it reads no file. */
  readonly config: Config;
  readonly entry: ProcessEntry;
  /** One worker each; see `listWorkerAddresses`. */
  readonly addresses: readonly string[];
  /** A line for the log about a worker that ended unasked. */
  readonly onRestart: (crash: WorkerCrash) => void;
  /** How long a worker may take to its first readiness. Default 30 s. */
  readonly startBoundMs?: number;
  /** Default 100 ms doubling to 5 s; a life of 10 s is a sound one. */
  readonly backoff?: BackoffOptions;
}

export interface WorkerCrash {
  readonly index: number;
  readonly exitedPid: number | undefined;
  /** "signal SIGKILL", "exit code 1" */
  readonly how: string;
  /** Until the restart. */
  readonly delayMs: number;
}

/**
 * MiB, twice V8's own: what requests in flight hold is copied half as often, for about 30 MB of memory. From the start on,
 * so that what the program consists of is not copied while it loads: a seventh of a start's CPU.
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

  /** Process ids of the workers that run now, in the order of their index. */
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
   * @throws Error of the first that cannot start; none is left running then.
   */
  async start(): Promise<void> {
    try {
      await Promise.all(this.#slots.map((slot) => slot.start(this.#startBoundMs)));
    } catch (error) {
      this.kill();
      throw error;
    }
  }

  /** Every worker has this catalog from now on, those that start later too. */
  replaceCatalog(catalog: Config["catalog"]): void {
    this.#config = Object.freeze({ ...this.#config, catalog });
    for (const slot of this.#slots) slot.send({ type: "catalog", catalog });
  }

  /** Ends all workers orderly within `boundMs` plus two seconds. Returns whether each of them ended well. */
  async stop(boundMs: number): Promise<boolean> {
    const ends = await Promise.all(this.#slots.map((slot) => slot.stop(boundMs)));
    return ends.every((orderly) => orderly);
  }

  /** Ends all workers at once. */
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
    // Envoy's health checks pass over one that hangs. Killed, it would lose the requests that it may still end.
    silenceBoundMs: null,
  };
}
