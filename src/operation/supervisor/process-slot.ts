import { type ChildProcess, fork } from "node:child_process";
import { rm } from "node:fs/promises";
import { Backoff, type BackoffOptions } from "./backoff.ts";
import { StartError } from "./start-error.ts";
import { parseWorkerReport, type ReadyReport, type WorkerOrder } from "./messages.ts";

/** Command for starting processes: `node <modulePath> <command> …args`. */
export interface ProcessEntry {
  readonly modulePath: string;
  readonly args: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
}

/** Events of a slot for the supervisor. */
export interface SlotEvents {
  /** Returns the configuration for a process that asks for it. */
  readonly readConfig: () => unknown;
  onMessage(body: unknown): void;
  onRestart(crash: { exitedPid: number | undefined; how: string; delayMs: number }): void;
}

/** Description of a slot's process. */
export interface SlotPlace {
  /** Name for people: "worker 0". */
  readonly name: string;
  /** `worker --index 0 --address …` */
  readonly command: readonly string[];
  /** Unix socket of the process; null: none. */
  readonly socket: string | null;
  /** Options of Node in addition to those of this process. */
  readonly execArgv: readonly string[];
  /** Time without a message after which a ready process is killed; null: never. */
  readonly silenceBoundMs: number | null;
}

/** Ticks per silence bound. Counting ticks instead of time ignores pauses of the whole host. */
const SILENCE_TICKS = 10;

/** Time after its bound when a process that has not ended is killed. */
const KILL_AFTER_BOUND_MS = 2_000;
/** A process that cannot start says so itself; this only ends one that hangs, not one on a busy host. */
const DEFAULT_START_BOUND_MS = 120_000;
const DEFAULT_BACKOFF: BackoffOptions = { firstMs: 100, maxMs: 5_000, soundAfterMs: 10_000 };

/**
 * Slot for one process: the current one, and the next one after a crash. Leftovers of a dead process (a
 * socket's file) are removed before each start.
 */
export class ProcessSlot {
  readonly #place: SlotPlace;
  readonly #entry: ProcessEntry;
  readonly #events: SlotEvents;
  readonly #backoff: Backoff;
  /** Processes that were killed because they were silent. */
  readonly #silent = new WeakSet<ChildProcess>();
  #child: ChildProcess | null = null;
  #restart: NodeJS.Timeout | null = null;
  #stopping = false;
  #startedAtMs = 0;

  constructor(
    place: SlotPlace,
    entry: ProcessEntry,
    events: SlotEvents,
    backoff: BackoffOptions = DEFAULT_BACKOFF,
  ) {
    this.#place = place;
    this.#entry = entry;
    this.#events = events;
    this.#backoff = new Backoff(backoff);
  }

  /** Id of the current process; null between two. */
  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  /**
   * Starts the first process and resolves with its report once it is ready; from then on it is restarted when
   * it ends.
   * @throws StartError if it ends, reports an error, or is not ready within `boundMs`: an immediate failure
   * (wrong configuration, unwritable directory) would repeat for ever.
   */
  async start(boundMs = DEFAULT_START_BOUND_MS): Promise<ReadyReport> {
    const child = await this.#fork();
    const ready = await waitUntilReady(child, this.#place.name, boundMs);
    if (child.exitCode !== null || child.signalCode !== null) {
      this.#ended(child, child.exitCode, child.signalCode);
    } else child.once("exit", (code, signal) => this.#ended(child, code, signal));
    return ready;
  }

  send(order: WorkerOrder): void {
    // A process that is ending has closed its channel, and needs no orders.
    if (this.#child?.connected === true) this.#child.send(order, () => undefined);
  }

  /**
   * Stops the process finally, within `boundMs` plus two seconds.
   * @returns whether it ended with exit code 0 (or none was running).
   */
  async stop(boundMs: number): Promise<boolean> {
    this.#stopping = true;
    if (this.#restart !== null) clearTimeout(this.#restart);
    const child = this.#child;
    if (child === null || hasEnded(child)) return true;
    const ended = new Promise<boolean>((resolve) => child.once("exit", (code) => resolve(code === 0)));
    const deadline = setTimeout(() => child.kill("SIGKILL"), boundMs + KILL_AFTER_BOUND_MS);
    this.send({ type: "drain", boundMs });
    const orderly = await ended;
    clearTimeout(deadline);
    return orderly;
  }

  /** Kills the process. */
  kill(): void {
    this.#stopping = true;
    if (this.#restart !== null) clearTimeout(this.#restart);
    this.#child?.kill("SIGKILL");
  }

  async #fork(): Promise<ChildProcess> {
    const { command, socket, execArgv } = this.#place;
    if (socket !== null) await rm(socket, { force: true });
    const { modulePath, args, env } = this.#entry;
    const child = fork(modulePath, [...command, ...args], {
      execArgv: [...process.execArgv, ...execArgv],
      stdio: ["ignore", "inherit", "inherit", "ipc"],
      ...(env === undefined ? {} : { env }),
    });
    this.#child = child;
    this.#startedAtMs = performance.now();
    child.on("message", (value) => {
      const report = parseWorkerReport(value);
      if (report?.type === "application") this.#events.onMessage(report.body);
      if (report?.type === "configuration_wanted") {
        this.send({ type: "configuration", config: this.#events.readConfig() });
      }
    });
    // Without a listener, a failed fork would end the supervisor; no "exit" follows it.
    child.on("error", () => undefined);
    if (this.#place.silenceBoundMs !== null) this.#killWhenSilent(child, this.#place.silenceBoundMs);
    return child;
  }

  #killWhenSilent(child: ChildProcess, boundMs: number): void {
    let silentTicks = 0;
    let timer: NodeJS.Timeout | null = null;
    const tick = (): void => {
      silentTicks += 1;
      if (silentTicks < SILENCE_TICKS) return;
      this.#silent.add(child);
      child.kill("SIGKILL");
    };
    child.on("message", (value) => {
      silentTicks = 0;
      if (timer === null && parseWorkerReport(value)?.type === "ready") {
        timer = setInterval(tick, boundMs / SILENCE_TICKS);
      }
    });
    child.once("exit", () => timer !== null && clearInterval(timer));
  }

  #ended(child: ChildProcess, code: number | null, signal: NodeJS.Signals | null): void {
    if (this.#stopping) return;
    const delayMs = this.#backoff.nextDelayMs(performance.now() - this.#startedAtMs);
    const how = this.#silent.has(child) ? "killed, since it hung" : describeEnd(code, signal);
    this.#events.onRestart({ exitedPid: child.pid, how, delayMs });
    this.#restart = setTimeout(() => void this.#startAgain(), delayMs);
  }

  async #startAgain(): Promise<void> {
    try {
      const child = await this.#fork();
      if (child.pid === undefined) this.#ended(child, null, null);
      else child.once("exit", (code, signal) => this.#ended(child, code, signal));
      if (this.#stopping) child.kill("SIGKILL");
    } catch (error) {
      const delayMs = this.#backoff.nextDelayMs(0);
      this.#events.onRestart({ exitedPid: undefined, how: String(error), delayMs });
      this.#restart = setTimeout(() => void this.#startAgain(), delayMs);
    }
  }
}

function waitUntilReady(child: ChildProcess, name: string, boundMs: number): Promise<ReadyReport> {
  return new Promise((resolve, reject) => {
    const settle = (act: () => void): void => {
      clearTimeout(deadline);
      child.off("message", onMessage);
      child.off("exit", onExit);
      act();
    };
    const fail = (text: string): void => settle(() => reject(new StartError(`${name} ${text}`)));
    const onMessage = (value: unknown): void => {
      const report = parseWorkerReport(value);
      if (report?.type === "ready") settle(() => resolve(report));
      if (report?.type === "failed") fail(`could not start: ${report.message}`);
    };
    const onExit = (code: number | null, signal: NodeJS.Signals | null): void => {
      fail(`ended before it was ready (${describeEnd(code, signal)})`);
    };
    const deadline = setTimeout(() => fail(`was not ready within ${boundMs / 1000} s`), boundMs);
    child.on("message", onMessage);
    child.on("exit", onExit);
    child.once("error", (error) => fail(`could not be started: ${error.message}`));
  });
}

function hasEnded(child: ChildProcess): boolean {
  return child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
}

function describeEnd(code: number | null, signal: NodeJS.Signals | null): string {
  if (signal !== null) return `signal ${signal}`;
  return code === null ? "it could not be started" : `exit code ${code}`;
}
