/** What a curve is: one condition that is varied, and the figures at each of its values. */
import type { ProcessKind } from "../processes.ts";

export interface CurvePoint {
  /** The value of the condition, as it stands below the picture: "32". */
  readonly label: string;
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly cpuMsPerRequest: Readonly<Record<ProcessKind, number>>;
  readonly failures: number;
}

export interface Curve {
  /** Of its picture's file. */
  readonly name: string;
  readonly title: string;
  /** What is varied. */
  readonly condition: string;
  readonly points: readonly CurvePoint[];
}

/** Memory and CPU time while streams are open, one chunk a second on each. */
export interface StreamPoint {
  readonly streams: number;
  readonly sidecarMegabytes: number;
  readonly laterSidecarMegabytes: number;
  readonly envoyMegabytes: number;
  /** Of one core, while the streams are open. */
  readonly sidecarCores: number;
  readonly envoyCores: number;
  readonly redisCores: number;
  readonly failures: number;
}

export interface Curves {
  readonly date: string;
  readonly machine: Readonly<Record<string, string | number>>;
  readonly curves: readonly Curve[];
  readonly streams: readonly StreamPoint[];
}
