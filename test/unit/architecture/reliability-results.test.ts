/** The figures of docs/results are within their bounds, and docs/reliability-results.md quotes them right. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

type Row = Readonly<Record<string, string>>;

const read = (path: string): string =>
  readFileSync(new URL(`../../../docs/${path}`, import.meta.url), "utf8");
const PAGE = read("reliability-results.md");

/** Cells in quotes may have commas; nothing else of CSV is in these files. */
function readRows(file: string): readonly Row[] {
  const [head = [], ...rows] = read(`results/${file}`)
    .trim()
    .split("\n")
    .map((line) =>
      Array.from(
        line.matchAll(/"([^"]*)"|([^",]+)|(?<=,|^)(?=,|$)/g),
        ([, quoted, bare]) => quoted ?? bare ?? "",
      ),
    );
  return rows.map((cells) => Object.fromEntries(head.map((name, place) => [name, cells[place] ?? ""])));
}

const numberAt = (row: Row, name: string): number => Number(row[name]);
const sum = (rows: readonly Row[], name: string): number =>
  rows.reduce((total, row) => total + numberAt(row, name), 0);

const FAULTS = readRows("faults.csv");
const LONG = readRows("faults-long.csv");
const RECOVERIES = readRows("recoveries.csv");
const HOSTILE = readRows("hostile.csv");
const SHARED = readRows("hostile-shared.csv");

describe("docs/results", () => {
  it.each([
    ["faults.csv", FAULTS],
    ["faults-long.csv", LONG],
    ["recoveries.csv", RECOVERIES],
  ])("%s: each difference is what was charged beyond what was used, and within its bound", (_file, rows) => {
    expect(rows.length).toBeGreaterThan(10);
    for (const row of rows) {
      const difference = numberAt(row, "charged_cents") - numberAt(row, "used_cents");
      // Rounded from microcents, each by itself.
      expect(Math.abs(difference - numberAt(row, "difference_cents"))).toBeLessThanOrEqual(1);
      expect(difference).toBeGreaterThanOrEqual(numberAt(row, "bound_low") - 1);
      expect(difference).toBeLessThanOrEqual(numberAt(row, "bound_high") + 1);
    }
  });

  it.each([
    ["faults.csv", FAULTS],
    ["faults-long.csv", LONG],
  ])("%s: no rejection was false, and no cap was exceeded by more than its bound", (_file, rows) => {
    for (const row of rows) {
      expect(numberAt(row, "false_rejections")).toBe(0);
      if (row["overrun_bound"] === "") continue;
      expect(numberAt(row, "overrun_cents")).toBeLessThanOrEqual(numberAt(row, "overrun_bound"));
    }
  });

  it("hostile.csv: nobody else lost a microcent, and a response only with all attacks at once", () => {
    expect(sum(HOSTILE, "microcents_off")).toBe(0);
    const alone = SHARED.filter(({ attack }) => attack !== "all at once");
    expect(alone).toHaveLength(SHARED.length - 1);
    expect(sum(alone, "failures")).toBe(0);
    expect(sum(SHARED, "failures")).toBe(sum(HOSTILE, "failures"));
  });
});

describe("docs/reliability-results.md", () => {
  it.each([
    ["faults, short form", sum(FAULTS, "requests")],
    ["faults, long form", sum(LONG, "requests")],
    ["recoveries from random states", sum(RECOVERIES, "requests")],
    ["hostile organization", sum(HOSTILE, "requests")],
  ])("quotes the requests of %s", (run, requests) => {
    expect(PAGE).toContain(`| ${run} | ${requests.toLocaleString("en-US")} |`);
  });

  it("counts the scenarios that lose something", () => {
    const losing = FAULTS.filter((row) => row["difference_cents"] !== "0").map((row) => row["scenario"]);
    expect(PAGE).toContain("Seven scenarios lose something");
    expect(new Set(losing).size).toBe(7);
  });

  it("quotes the sums and the worst figures of attacks on what organizations share", () => {
    const inGroups = (number: number): string => number.toLocaleString("en-US");
    const [requests, calls, probes] = ["requests", "calls", "probes"].map((name) =>
      inGroups(sum(SHARED, name)),
    );
    expect(PAGE).toContain(`${requests} measured requests, ${calls} calls and ${probes} probes`);
    const worst = (name: string): string => inGroups(Math.max(...SHARED.map((row) => numberAt(row, name))));
    const times = ["p99_ms", "calls_p99_ms", "probes_p99_ms"].map(worst);
    expect(PAGE).toContain(
      `${times[0]} ms for requests, ${times[1]} ms for calls and ${times[2]} ms for probes`,
    );
    expect(PAGE).toContain(`${sum(SHARED, "failures")} failures, all with every attack at once`);
    const sizes = `data grew to ${worst("redis_data_mib")} MiB and logs to ${worst("log_mib")} MiB`;
    expect(PAGE).toContain(sizes);
  });
});
