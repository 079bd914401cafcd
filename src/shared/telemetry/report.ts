/** What workers, admin process and supervisor tell each other about telemetry over their channel. */
import type { MetricObject, MetricObjectWithValues, MetricValue } from "prom-client";
import { isLogLevel, type LogLevel } from "./log-level.ts";

/** One process's metrics, as prom-client writes them to JSON. */
export type Snapshot = readonly MetricObjectWithValues<MetricValue<string>>[];

export type TelemetryMessage =
  /** A process sends it every few seconds and when asked. `pid`: another one in the same place begins at 0 again. */
  | { readonly kind: "metrics"; readonly pid: number; readonly snapshot: Snapshot }
  /** The supervisor asks for it now. */
  | { readonly kind: "collect" }
  /** The supervisor sets the level. */
  | { readonly kind: "log_level"; readonly level: LogLevel };

/** The message when it is one of telemetry, else null. */
export function parseTelemetryMessage(value: unknown): TelemetryMessage | null {
  if (typeof value !== "object" || value === null) return null;
  const { kind, pid, snapshot, level } = value as Readonly<Record<string, unknown>>;
  if (kind === "collect") return { kind };
  if (kind === "log_level" && isLogLevel(level)) return { kind, level };
  if (kind !== "metrics" || typeof pid !== "number" || !Array.isArray(snapshot)) return null;
  return { kind, pid, snapshot: snapshot as MetricObject[] as unknown as Snapshot };
}
