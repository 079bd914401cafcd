/** What the documents say that a request takes: no more than what the kept runs measured, and no less. */
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import type { Curves } from "../bench/curves/curve.ts";
import { formatSizing } from "../bench/curves/sizing.ts";
import { drawCurves } from "../bench/curves/write-curves.ts";

interface Row {
  readonly workload: string;
  readonly cpuMsPerRequest: { readonly sidecar: number };
  readonly sidecarMicrosecondsPerEvent: number | null;
}

interface Run {
  /** Curves have none. */
  readonly rows?: readonly Row[];
  readonly memoryMegabytes?: Readonly<Record<"sidecar" | "supervisor" | "envoy", number>>;
  /** Null: none were held open. */
  readonly heldStreams?: object | null;
}

const RESULTS = new URL("../bench/results/", import.meta.url);
/** Runs of before have other code under them. */
const SINCE = "2026-11-23";
const page = readFileSync(new URL("../../docs/sizing.md", import.meta.url), "utf8");
const runs = readdirSync(RESULTS)
  .filter((name) => name.endsWith(".json") && name >= SINCE)
  .map((name) => JSON.parse(readFileSync(new URL(name, RESULTS), "utf8")) as Run);
const rows = runs.flatMap((run) => run.rows ?? []);

const sidecarMs = (workload: string): number[] =>
  rows.filter((row) => row.workload === workload).map(({ cpuMsPerRequest }) => cpuMsPerRequest.sidecar);
const eventUs = rows.flatMap(({ sidecarMicrosecondsPerEvent: us }) => us ?? []);
/** What half of a core does in a second. */
const perSecond = (values: readonly number[], unitsPerSecond: number): number[] =>
  values.map((value) => unitsPerSecond / 2 / value);

/** "0.3 to 0.9", "1,500 to 3,500": the two numbers of the page behind and before these words. */
function rangeOf(before: string, after: string): [number, number] {
  const number = "([\\d.,]*\\d)";
  const found = new RegExp(`${before}${number} to ${number}${after}`).exec(page);
  const [, low = "", high = ""] = found ?? [];
  return [low, high].map((text) => Number(text.replaceAll(",", ""))) as [number, number];
}

describe("docs/sizing.md", () => {
  it.each([
    {
      what: "a request of 100 kB",
      before: "100 kB takes ",
      after: " ms of a worker",
      seen: sidecarMs("100k"),
    },
    { what: "a rejection", before: "a rejection ", after: " ms", seen: sidecarMs("refused") },
    { what: "an event", before: "An event of a stream takes ", after: " µs", seen: eventUs },
    {
      what: "requests of a worker",
      before: "about ",
      after: " requests or",
      seen: perSecond(sidecarMs("1k"), 1_000),
    },
    {
      what: "events of a worker",
      before: "requests or ",
      after: " events a second",
      seen: perSecond(eventUs, 1_000_000),
    },
  ])("says of $what what the kept runs say, a tenth more or less", ({ before, after, seen }) => {
    const [low, high] = rangeOf(before, after);
    expect(seen.length).toBeGreaterThan(5);
    expect(Math.min(...seen)).toBeGreaterThanOrEqual(low * 0.9);
    expect(Math.max(...seen)).toBeLessThanOrEqual(high * 1.1);
    // And no wider than a fifth: a range that says nothing would hold any run.
    expect(Math.min(...seen)).toBeLessThanOrEqual(low * 1.25);
    expect(Math.max(...seen)).toBeGreaterThanOrEqual(high * 0.8);
  });

  it("says of memory what the kept runs say, a tenth more or less", () => {
    const found =
      /About (\d+) MB for a worker .* (\d+) MB for the supervisor, (\d+) MB for Envoy, and (\d+) MB/.exec(
        page,
      );
    const told = (found ?? []).slice(1).map(Number);
    const largest = (of: "sidecar" | "supervisor" | "envoy", isHeld: boolean): number =>
      Math.max(
        ...runs
          .filter(({ heldStreams = null }) => (heldStreams !== null) === isHeld)
          .map(({ memoryMegabytes }) => memoryMegabytes?.[of] ?? 0),
      );
    const seen = [
      largest("sidecar", true),
      largest("supervisor", true),
      largest("envoy", false),
      largest("envoy", true),
    ];
    expect(told).toHaveLength(seen.length);
    for (const [index, megabytes] of seen.entries()) {
      expect(Math.abs(megabytes - (told[index] ?? 0)) / megabytes).toBeLessThan(0.1);
    }
  });
});

describe("the scaling curves of the newest run", () => {
  const newest = readdirSync(RESULTS)
    .filter((name) => name.endsWith("-curves.json"))
    .toSorted()
    .at(-1);
  const curves = JSON.parse(readFileSync(new URL(newest ?? "", RESULTS), "utf8")) as Curves;
  const images = new URL("../../docs/images/benchmarks/", import.meta.url);

  it.each(drawCurves(curves))("are drawn in $name.svg (vitest -u renews it)", async ({ name, picture }) => {
    await expect(picture).toMatchFileSnapshot(fileURLToPath(new URL(`${name}.svg`, images)));
  });

  it("give the first table of docs/sizing.md", () => {
    const base = curves.curves.find(({ name }) => name === "keys")?.points.at(-1);
    expect(base).toBeDefined();
    const cellsOf = (text: string) =>
      text
        .split("\n")
        .filter((line) => /^\| +[\d,]+ \|/.test(line))
        .map((line) => line.split("|").map((cell) => cell.trim()));
    const [table = ""] = page.split("\n## ");
    expect(cellsOf(table)).toEqual(cellsOf(formatSizing(base!)));
  });
});
