/** What cannot be merged, by its place in the bootstrap, and what to do about it; all that there is at once. */
export class MergeRefusal extends Error {
  override readonly name = "MergeRefusal";

  constructor(reasons: readonly string[]) {
    super(reasons.join("\n"));
  }
}

/** One reason. */
export function refuse(path: string, reason: string): MergeRefusal {
  return new MergeRefusal([path === "" ? reason : `${path}: ${reason}`]);
}
