/** What a look at something found: one thing that is so, how bad it is, and what to do about it. */
export interface Finding<Level extends string> {
  /** Name of the check, for programs: "redis.persistence", "filter_order". */
  readonly check: string;
  readonly level: Level;
  /** What is so, and what happens by it. */
  readonly message: string;
  /** What to do, or to write instead. */
  readonly fix: string | null;
}
