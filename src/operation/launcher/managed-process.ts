import type { ChildProcess } from "node:child_process";
import type { LogFile } from "./log-file.ts";
import { readStartTime } from "../setup/process-identity.js";

const TAIL_LINES = 12;

/** Child of the launcher: Redis, `serve` or Envoy. */
export class ManagedProcess {
  readonly name: string;
  readonly child: ChildProcess;
  readonly log: LogFile;
  /** Resolves when it has ended: "exit code 1", "signal SIGKILL". Never rejects. */
  readonly ended: Promise<string>;
  #end: string | null = null;

  constructor(name: string, child: ChildProcess, log: LogFile) {
    this.name = name;
    this.child = child;
    this.log = log;
    log.close();
    this.ended = new Promise((resolve) => {
      const settle = (how: string): void => {
        this.#end ??= how;
        resolve(this.#end);
      };
      child.once("error", (error) => settle(`it could not be started: ${error.message}`));
      child.once("exit", (code, signal) =>
        settle(signal === null ? `exit code ${code}` : `signal ${signal}`),
      );
    });
  }

  get hasEnded(): boolean {
    return this.#end !== null;
  }

  /** Identifies this process for a later process. */
  get identity(): { name: string; pid: number; startTime: string | null } {
    const pid = this.child.pid ?? 0;
    return { name: this.name, pid, startTime: readStartTime(pid) };
  }

  /** Returns its last output with its name, for an error message. */
  describeLog(): string {
    const tail = this.log.tail(TAIL_LINES);
    return tail === ""
      ? `${this.name} wrote nothing.`
      : `${this.name}'s last lines (${this.log.path}):\n${tail}`;
  }

  /** Sends SIGTERM, and SIGKILL if it has not ended within `boundMs`. Resolves when it has ended, with the outcome. */
  async stop(boundMs: number): Promise<string> {
    if (this.#end !== null) return this.#end;
    const deadline = setTimeout(() => this.kill(), boundMs);
    this.child.kill("SIGTERM");
    const how = await this.ended;
    clearTimeout(deadline);
    return how;
  }

  /** Kills it with its process group. */
  kill(): void {
    const { pid } = this.child;
    if (pid === undefined || this.#end !== null) return;
    try {
      process.kill(-pid, "SIGKILL");
    } catch (error) {
      // It ended between the check and the signal.
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
  }
}
