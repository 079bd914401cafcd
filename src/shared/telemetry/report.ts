/** Messages about telemetry between workers, admin process and supervisor over their channel. */
import type { MetricObject, MetricObjectWithValues, MetricValue } from "prom-client";
import { isLogLevel, type LogLevel } from "./log-level.ts";

/** Metrics of one process in prom-client's JSON. */
export type Snapshot = readonly MetricObjectWithValues<MetricValue<string>>[];

export type TelemetryMessage =
  /** Sent by a process every few seconds and on request. A different `pid` in the same place starts at 0 again. */
  | { readonly kind: "metrics"; readonly pid: number; readonly snapshot: Snapshot }
  /** The supervisor requests a report now. */
  | { readonly kind: "collect" }
  /** The supervisor sets the level. */
  | { readonly kind: "log_level"; readonly level: LogLevel };

/** Returns the message if it is about telemetry, otherwise null. */
export function parseTelemetryMessage(value: unknown): TelemetryMessage | null {
  if (typeof value !== "object" || value === null) return null;
  const { kind, pid, snapshot, level } = value as Readonly<Record<string, unknown>>;
  if (kind === "collect") return { kind };
  if (kind === "log_level" && isLogLevel(level)) return { kind, level };
  if (kind !== "metrics" || typeof pid !== "number" || !Array.isArray(snapshot)) return null;
  return { kind, pid, snapshot: snapshot as MetricObject[] as unknown as Snapshot };
}
