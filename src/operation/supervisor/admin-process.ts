/**
 * The process of the management API, with dashboard, exports and sign-in: what callers of those make it do keeps neither
 * workers nor probes waiting. The supervisor starts it, and starts another one when it has ended or hangs; requests to
 * models go on meanwhile.
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
  /** A line for the log about a process that ended unasked. */
  readonly onRestart: (crash: Omit<WorkerCrash, "index">) => void;
}

/** MiB of V8's heap: a process that needs more ends, and another takes its place, before the host's memory ends. */
const OLD_SPACE = ["--max-old-space-size=512"];
/** It reports its metrics every few seconds. One that doesn't hangs, and no caller's work takes so long. */
const SILENCE_BOUND_MS = 30_000;
/** Calls in flight may end. */
const CLOSE_BOUND_MS = 2_500;
const PLACE: SlotPlace = {
  name: "the management API",
  command: ["admin"],
  socket: null,
  execArgv: OLD_SPACE,
  silenceBoundMs: SILENCE_BOUND_MS,
};
/** Messages name no worker. */
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
   * Resolves with its URL, without a slash at the end, once it listens. Processes that take its place listen on the same
   * port, also where the configuration leaves the port open.
   * @throws StartError when it cannot start; it is not left running then.
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
