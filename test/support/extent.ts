/**
 * How much the tests do. On each push every claim is shown once. With `TEST_EXTENT=nightly` it is shown again with what
 * should make no difference: the other transport, HTTP version, number of workers, route, color scheme or major of an SDK,
 * the whole store on a cluster, larger loads, ten times as many random examples.
 */
const EXTENTS = ["push", "nightly"] as const;
type Extent = (typeof EXTENTS)[number];
const extent = readExtent(process.env["TEST_EXTENT"] ?? "push");

function readExtent(named: string): Extent {
  const found = EXTENTS.find((one) => one === named);
  if (found === undefined) throw new Error(`TEST_EXTENT is ${EXTENTS.join(" or ")}, not ${named}`);
  return found;
}

/** Cases, sizes or counts that differ between the two extents: those of this run. */
export function byExtent<T>(values: Readonly<Record<Extent, T>>): T {
  return values[extent];
}

/** The cases of a claim that holds in each of them alike: on each push the first one, at night all. */
export function firstOnPush<T>(cases: readonly T[]): readonly T[] {
  return byExtent({ nightly: cases, push: cases.slice(0, 1) });
}

/** How many random examples a property or a model is tried with: a tenth on each push. Seeds differ from run to run. */
export function runs(nightly: number): number {
  return byExtent({ nightly, push: Math.ceil(nightly / 10) });
}
