import { fork } from "node:child_process";
import type { Writable } from "node:stream";
import { type ConfigOverrides, formatOverrides } from "../supervisor/config-overrides.ts";
import { parseServeReport, type ServeReport } from "../supervisor/messages.ts";
import { LaunchError } from "./launch-error.ts";
import { openLogFile } from "./log-file.ts";
import { ManagedProcess } from "./managed-process.ts";
import { printWaiting } from "./waiting.ts";

/** Longer than the supervisor gives its processes. */
const READY_BOUND_MS = 180_000;

export interface ServeProcessOptions {
  /** Entry file of the program: `dist/main.js`. */
  readonly entry: string;
  readonly configFile: string;
  readonly overrides: ConfigOverrides;
  readonly drainSeconds: number;
  readonly logPath: string;
  readonly env: NodeJS.ProcessEnv;
  /**
   * Guard of the private Redis: `serve` holds it as well, so that Redis outlives a killed launcher until all
   * charges are settled.
   */
  readonly redisGuard: Writable | null;
}

/** Report of `serve` once it runs. */
export type ServeReady = Extract<ServeReport, { type: "ready" }>;

/** Starts `serve` as a child, which ends by itself when this process is gone. */
export function startServe(options: ServeProcessOptions): ManagedProcess {
  const log = openLogFile(options.logPath);
  const own = [
    "serve",
    "--demo",
    "--config",
    options.configFile,
    "--drain-seconds",
    String(options.drainSeconds),
  ];
  const child = fork(options.entry, [...own, ...formatOverrides(options.overrides)], {
    detached: true,
    env: options.env,
    stdio: ["ignore", log.descriptor, log.descriptor, "ipc", options.redisGuard ?? "ignore"],
  });
  return new ManagedProcess("The gateway", child, log);
}

/**
 * Resolves with the report of `serve` once its workers are ready. Prints a notice while it waits for Redis.
 * @throws LaunchError with the reason, or with its last output if it reports none.
 */
export function waitForServe(serve: ManagedProcess): Promise<ServeReady> {
  return new Promise((resolve, reject) => {
    const fail = (text: string): void => settle(() => reject(new LaunchError(text)));
    const settle = (act: () => void): void => {
      clearTimeout(deadline);
      serve.child.off("message", onMessage);
      act();
    };
    const onMessage = (value: unknown): void => {
      const report = parseServeReport(value);
      if (report?.type === "ready") settle(() => resolve(report));
      if (report?.type === "redis_awaited") printWaiting(report.address);
      if (report?.type === "failed") fail(`The gateway could not start: ${report.message}`);
    };
    const deadline = setTimeout(
      () => fail(`The gateway was not ready within ${READY_BOUND_MS / 1000} s.\n${serve.describeLog()}`),
      READY_BOUND_MS,
    );
    serve.child.on("message", onMessage);
    void serve.ended.then((how) => fail(`The gateway ended (${how}).\n${serve.describeLog()}`));
  });
}
