/**
 * Process of the management API, with dashboard, exports and sign-in: its callers' work delays neither
 * workers nor probes. The supervisor starts it, and restarts it when it ends or hangs; requests to models
 * continue meanwhile.
 */
import { type Channel, createListeners } from "../../shared/host/channel.ts";
import type { Config } from "../../shared/config/schema.ts";
import { transferConfig } from "../../shared/config/transfer.ts";
import { type ProcessEntry, ProcessSlot, type SlotPlace } from "./process-slot.ts";
import { StartError } from "./start-error.ts";
import type { WorkerCrash } from "./supervisor.ts";

export interface AdminProcessOptions {
  readonly config: Config;
  readonly entry: ProcessEntry;
  /** Logs a process that ended unexpectedly. */
  readonly onRestart: (crash: Omit<WorkerCrash, "index">) => void;
}

/** Heap limit in MiB: a process that needs more ends and is restarted, before the host runs out of memory. */
const OLD_SPACE = ["--max-old-space-size=512"];
/**
 * Metrics are reported every few seconds; a process without reports for this long hangs, since no call takes
 * that long.
 */
const SILENCE_BOUND_MS = 30_000;
/** Time for calls in flight to end. */
const CLOSE_BOUND_MS = 2_500;
const PLACE: SlotPlace = {
  name: "the management API",
  command: ["admin"],
  socket: null,
  execArgv: OLD_SPACE,
  silenceBoundMs: SILENCE_BOUND_MS,
};
/** Index for messages that name no worker. */
const NO_INDEX = -1;

export class AdminProcess {
  readonly #slot: ProcessSlot;
  readonly #listeners = createListeners();
  #config: Config;

  constructor({ config, entry, onRestart }: AdminProcessOptions) {
    this.#config = config;
    this.#slot = new ProcessSlot(PLACE, entry, {
      readConfig: () => transferConfig(this.#config),
      onMessage: (body) => this.#listeners.deliver(body, NO_INDEX),
      onRestart,
    });
  }

  get pid(): number | null {
    return this.#slot.pid;
  }

  get channel(): Channel {
    return {
      send: (body) => this.#slot.send({ type: "application", body }),
      onMessage: this.#listeners.add,
    };
  }

  /**
   * Resolves with its URL, without a final slash, once it listens. Later processes listen on the same port,
   * even if the configuration lets the system choose one.
   * @throws StartError if it cannot start; it is not left running.
   */
  async start(): Promise<string> {
    try {
      const { url } = await this.#slot.start();
      if (url === undefined) throw new StartError(`${PLACE.name} did not report its address`);
      const port = Number(new URL(url).port);
      this.#config = Object.freeze({
        ...this.#config,
        admin: Object.freeze({ ...this.#config.admin, port }),
      });
      return url;
    } catch (error) {
      this.kill();
      throw error;
    }
  }

  replaceCatalog(catalog: Config["catalog"]): void {
    this.#config = Object.freeze({ ...this.#config, catalog });
    this.#slot.send({ type: "catalog", catalog });
  }

  /** Returns whether it ended well. */
  stop(): Promise<boolean> {
    return this.#slot.stop(CLOSE_BOUND_MS);
  }

  kill(): void {
    this.#slot.kill();
  }
}
