/** What the admin process asks the supervisor of its host, which alone knows it. */
import type { ConfigState } from "../config/reload/config-state.ts";
import type { LogLevel } from "./log-level.ts";

export interface HostQuestions {
  /** The page of all processes, for Prometheus. */
  readonly renderMetrics: () => Promise<{ readonly contentType: string; readonly text: string }>;
  /** How the running configuration stands to its file. */
  readonly readConfigState: () => ConfigState;
  /** Whether every worker has started and none was asked to stop yet. */
  readonly areWorkersReady: () => boolean;
  /** Of every process of the host. */
  readonly setLogLevel: (level: LogLevel) => void;
}
