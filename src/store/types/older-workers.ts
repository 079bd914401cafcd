/** A limit needs counters that workers of an older release, which are still there, would not move. */
export class OlderWorkersError extends Error {
  override readonly name = "OlderWorkersError";
  readonly count: number;

  constructor(count: number) {
    super(
      `${count} ${count === 1 ? "worker of an older release is" : "workers of an older release are"} still running, and would not count for this limit: try again when the upgrade is done`,
    );
    this.count = count;
  }
}
