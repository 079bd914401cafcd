/** docs/results/releases.csv has a row for each release, and the nightly run compares with the last one. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { parse } from "yaml";

const ROOT = join(import.meta.dirname, "../..");
const read = (file: string): string => readFileSync(join(ROOT, file), "utf8");
const rows = read("docs/results/releases.csv")
  .trimEnd()
  .split("\n")
  .slice(1)
  .map((line) => line.split(","));

it("the table of releases has a row for each version of the changelog", () => {
  const versions = Array.from(read("CHANGELOG.md").matchAll(/^## \[(\d+\.\d+\.\d+)\]/gm), ([, one]) => one);
  expect(rows.map(([release]) => release)).toEqual(versions.toReversed());
  for (const [, commit] of rows) expect(commit).toMatch(/^(?:[0-9a-f]{8}|v\d+\.\d+\.\d+)$/);
});

it("the nightly run compares with the last row, and its summary has the result", () => {
  const workflow = parse(read(".github/workflows/nightly.yml")) as {
    jobs: Record<string, { steps: { uses?: string; with?: object; shell?: string; run?: string }[] }>;
  };
  const { steps } = workflow.jobs["speed"]!;
  // The whole history: the release's commit is built from it.
  expect(steps[0]).toMatchObject({ with: { "fetch-depth": 0 } });
  const { run, shell } = steps.at(-1)!;
  expect(shell).toBe("bash");
  const folder = mkdtempSync(join(tmpdir(), "igw-nightly-"));
  try {
    const summary = join(folder, "summary.md");
    const script = `npm() { echo "npm $*"; }\n${run}`;
    const env = { ...process.env, GITHUB_STEP_SUMMARY: summary };
    execFileSync("bash", ["-euo", "pipefail", "-c", script], { cwd: ROOT, env });
    expect(readFileSync(summary, "utf8")).toBe(`npm run --silent bench -- --against ${rows.at(-1)![1]}\n`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
