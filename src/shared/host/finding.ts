export type HostLevel = "ok" | "skipped" | "warning" | "problem";

/** Finding of `doctor` about a running gateway. */
export interface HostFinding extends Finding<HostLevel> {
  /** RFC 3339, if known. */
  readonly since: string | null;
}

/** Result of a check: a fact, its severity, and what to do. */
export interface Finding<Level extends string> {
  /** Name of the check, for programs: "redis.persistence", "filter_order". */
  readonly check: string;
  readonly level: Level;
  /** The fact and its consequence. */
  readonly message: string;
  /** Instructions, or the right value. */
  readonly fix: string | null;
}
