import { type ChildProcess, fork } from "node:child_process";
import { rm } from "node:fs/promises";
import { Backoff, type BackoffOptions } from "./backoff.ts";
import { StartError } from "./start-error.ts";
import { parseWorkerReport, type WorkerOrder } from "./messages.ts";

/** How worker processes are started: `node <modulePath> worker --index <i> --address <a> …args`. */
export interface WorkerEntry {
  readonly modulePath: string;
  readonly args: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
}

/** What the supervisor is told of a slot. */
export interface SlotEvents {
  /** A process asks what it runs with. */
  readonly readConfig: () => unknown;
  onMessage(body: unknown): void;
  onRestart(crash: { pid: number | undefined; how: string; delayMs: number }): void;
}

/** A worker that does not end within its bound is killed this much later. */
const KILL_AFTER_BOUND_MS = 2_000;
/** MiB, twice V8's own: what requests in flight hold is copied half as often, for some 30 MB of memory. */
const NEW_SPACE = ["--max-semi-space-size=32"];

/**
 * One place in the row of workers: the process that is in it now, and the next one when that has crashed. The place
 * keeps its address for good; what a dead process left there (a socket's file) is removed before each start.
 */
export class WorkerSlot {
  readonly index: number;
  readonly address: string;
  readonly #entry: WorkerEntry;
  readonly #events: SlotEvents;
  readonly #backoff: Backoff;
  #child: ChildProcess | null = null;
  #restart: NodeJS.Timeout | null = null;
  #stopping = false;
  #startedAtMs = 0;

  constructor(
    index: number,
    address: string,
    entry: WorkerEntry,
    events: SlotEvents,
    backoff: BackoffOptions,
  ) {
    this.index = index;
    this.address = address;
    this.#entry = entry;
    this.#events = events;
    this.#backoff = new Backoff(backoff);
  }

  /** Process id of the worker that is in this place now; null between two. */
  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  /**
   * Starts the first process and resolves once it is ready; from then on it is restarted when it ends.
   * @throws StartError when it ends before, says why it cannot start, or is not ready within `boundMs`: what fails at once
   *   on a new start (a wrong configuration, a folder that cannot be written) would fail for ever.
   */
  async start(boundMs: number): Promise<void> {
    const child = await this.#fork();
    await waitUntilReady(child, this.index, boundMs);
    if (child.exitCode !== null || child.signalCode !== null) {
      this.#ended(child, child.exitCode, child.signalCode);
    } else child.once("exit", (code, signal) => this.#ended(child, code, signal));
  }

  send(order: WorkerOrder): void {
    // A worker that is ending has closed its channel; it needs no orders any more.
    if (this.#child?.connected === true) this.#child.send(order, () => undefined);
  }

  /**
   * Ends the process for good, orderly within `boundMs` plus two seconds.
   * @returns whether it ended with exit code 0 (or there was none to end).
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

  /** Ends the process at once. */
  kill(): void {
    this.#stopping = true;
    if (this.#restart !== null) clearTimeout(this.#restart);
    this.#child?.kill("SIGKILL");
  }

  async #fork(): Promise<ChildProcess> {
    const socket = /^unix:(.+)$/.exec(this.address)?.[1];
    if (socket !== undefined) await rm(socket, { force: true });
    const { modulePath, args, env } = this.#entry;
    const own = ["worker", "--index", String(this.index), "--address", this.address];
    const child = fork(modulePath, [...own, ...args], {
      execArgv: [...process.execArgv, ...NEW_SPACE],
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
    // Without a listener a process that cannot be forked would end the supervisor; "exit" does not follow then.
    child.on("error", () => undefined);
    return child;
  }

  #ended(child: ChildProcess, code: number | null, signal: NodeJS.Signals | null): void {
    if (this.#stopping) return;
    const delayMs = this.#backoff.nextDelayMs(performance.now() - this.#startedAtMs);
    this.#events.onRestart({ pid: child.pid, how: describeEnd(code, signal), delayMs });
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
      this.#events.onRestart({ pid: undefined, how: String(error), delayMs });
      this.#restart = setTimeout(() => void this.#startAgain(), delayMs);
    }
  }
}

function waitUntilReady(child: ChildProcess, index: number, boundMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (error: Error | null): void => {
      clearTimeout(deadline);
      child.off("message", onMessage);
      child.off("exit", onExit);
      if (error === null) resolve();
      else reject(error);
    };
    const fail = (text: string): void => settle(new StartError(`worker ${index} ${text}`));
    const onMessage = (value: unknown): void => {
      const report = parseWorkerReport(value);
      if (report?.type === "ready") settle(null);
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
