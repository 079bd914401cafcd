/**
 * How much the tests do. On each push every claim is shown once. With `TEST_EXTENT=nightly` it is shown again with what
 * should make no difference: the other transport, the other HTTP version, the whole store on a cluster, more plans.
 */
const EXTENTS = ["push", "nightly"] as const;
const extent = EXTENTS.find((one) => one === (process.env["TEST_EXTENT"] ?? "push"));
if (extent === undefined) {
  throw new Error(`TEST_EXTENT is ${EXTENTS.join(" or ")}, not ${process.env["TEST_EXTENT"]}`);
}

export const EXTENT: (typeof EXTENTS)[number] = extent;

/** Cases, sizes or counts that differ between the two extents: those of this run. */
export function byExtent<T>(values: Readonly<Record<(typeof EXTENTS)[number], T>>): T {
  return values[EXTENT];
}

/** How many random examples a property or a model is tried with: a tenth on each push. Seeds differ from run to run. */
export function runs(nightly: number): number {
  return byExtent({ nightly, push: Math.ceil(nightly / 10) });
}
