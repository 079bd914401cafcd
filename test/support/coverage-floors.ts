import { globSync } from "node:fs";
import { resolve } from "node:path";

const ROOT = resolve(import.meta.dirname, "../..");

/**
 * The path of a request and of money. The unit and store projects are responsible for it and run it in their own
 * process; commands, launcher, supervisor, listeners and dashboard are tested as whole stacks, in processes of
 * their own that no figure here would count.
 */
const MEASURED_FOLDERS = [
  "alerts",
  "auth",
  "catalog",
  "config",
  "exchange",
  "grace",
  "limits",
  "pricing",
  "request-log",
  "settings",
  "settlement",
  "spool",
  "store",
  "translation",
];

/** Where no single file may fall behind: what it decides is money, a limit, or what a client reads. */
const FOLDERS_WITH_FILE_FLOORS = [
  "exchange",
  "grace",
  "limits",
  "pricing",
  "request-log",
  "settlement",
  "spool",
  "store",
  "translation",
];

/** Percent of the lines that must run. */
const FLOOR_IN_TOTAL = 90;
const FLOOR_OF_A_FILE = 80;

/** Files that neither project can run far enough, each with what tests it instead. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  "src/data-path/settlement/tokens/tokenizer-thread.ts":
    "runs in a worker thread, which V8's coverage of its process leaves out: test/unit/settlement/tokenizer.test.ts",
};

/** vitest's `coverage.include`. */
export const MEASURED_FILES = MEASURED_FOLDERS.map((folder) => `src/*/${folder}/**/*.ts`);

/** vitest's `coverage.thresholds`: it takes a glob's files together, so each file is a glob of its own. */
export function coverageFloors(): Record<string, number | { lines: number }> {
  const files = FOLDERS_WITH_FILE_FLOORS.flatMap(listSources).filter((file) => !(file in EXCEPTIONS));
  return {
    lines: FLOOR_IN_TOTAL,
    ...Object.fromEntries(files.map((file) => [file, { lines: FLOOR_OF_A_FILE }])),
  };
}

function listSources(folder: string): readonly string[] {
  const files = globSync(`src/*/${folder}/**/*.ts`, { cwd: ROOT });
  if (files.length === 0) throw new Error(`src has no room "${folder}"`);
  return files;
}
