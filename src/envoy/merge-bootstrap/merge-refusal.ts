/** Thrown with all parts that cannot be merged, by their place in the bootstrap, and what to do about each. */
export class MergeRefusal extends Error {
  override readonly name = "MergeRefusal";

  constructor(reasons: readonly string[]) {
    super(reasons.join("\n"));
  }
}

/** Creates a refusal with one reason. */
export function refuse(path: string, reason: string): MergeRefusal {
  return new MergeRefusal([path === "" ? reason : `${path}: ${reason}`]);
}
