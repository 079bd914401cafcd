/**
 * How much the tests do. On each push every claim is shown once; with `TEST_EXTENT=nightly` also on the other transport,
 * the whole store on a cluster, and each model over all of its runs.
 */
const EXTENTS = ["push", "nightly"];
const extent = process.env["TEST_EXTENT"] ?? "push";
if (!EXTENTS.includes(extent)) throw new Error(`TEST_EXTENT is ${EXTENTS.join(" or ")}, not ${extent}`);

export const IS_NIGHTLY = extent === "nightly";

/** How many random plans a model is tried with: a fifth of them on each push. */
export function modelRuns(nightly: number): number {
  return IS_NIGHTLY ? nightly : Math.ceil(nightly / 5);
}
