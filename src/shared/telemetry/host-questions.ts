/** Requests of the admin process to the supervisor of its host. */
import type { ConfigState } from "../config/reload/config-state.ts";
import type { LogLevel } from "./log-level.ts";

export interface HostQuestions {
  /** Returns the metrics of all processes, for Prometheus. */
  readonly renderMetrics: () => Promise<{ readonly contentType: string; readonly text: string }>;
  /** Returns the difference between the running configuration and its file. */
  readonly readConfigState: () => ConfigState;
  /** Returns whether every worker has started and none is stopping. */
  readonly areWorkersReady: () => boolean;
  /** Sets the level of every process of the host. */
  readonly setLogLevel: (level: LogLevel) => void;
}
