/** Another commit of this repository, built in a directory of its own with its own dependencies. */
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, utimesSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { lastLine, runCommand } from "../../../src/operation/setup/run-command.js";

/** Builds kept for another run, the most recently used ones; each takes about 100 MB. */
const KEPT_BUILDS = 5;
const BUILD_TIMEOUT_MS = 30 * 60_000;

export interface Commit {
  /** Abbreviated to eight digits. */
  readonly id: string;
  readonly subject: string;
}

export interface Build extends Commit {
  /** What `node` starts, as `dist/main.js` of this tree. */
  readonly program: string;
  readonly isReused: boolean;
}

export interface BuildPlace {
  readonly repository: string;
  /** Directory of all builds, which nothing else uses. */
  readonly builds: string;
}

/** @throws Error when this clone does not have the commit. */
export async function findCommit(ref: string, { repository }: BuildPlace): Promise<Commit> {
  const format = ["--no-walk", "--format=%H %s"];
  const found = await runCommand("git", ["log", ...format, "--end-of-options", `${ref}^{commit}`, "--"], {
    cwd: repository,
  });
  const [, hash = "", subject = ""] = /^(\w{40}) (.*)/u.exec(found.stdout) ?? [];
  if (found.code === 0 && hash !== "") return { id: hash.slice(0, 8), subject };
  throw new Error(
    `Cannot find commit "${ref}" in this clone (${lastLine(found)}). If the clone is shallow, run: git fetch --unshallow`,
  );
}

/**
 * Builds the commit with its own `npm run build`, or reuses an earlier build of it. A build that fails leaves nothing.
 *
 * @throws Error naming the commit and the step that failed, with the end of its output
 */
export async function buildCommit(ref: string, place: BuildPlace): Promise<Build> {
  const commit = await findCommit(ref, place);
  const directory = join(place.builds, commit.id);
  const isReused = existsSync(directory);
  if (!isReused) await build(commit, directory, place);
  const now = new Date();
  utimesSync(directory, now, now);
  removeOldBuilds(place.builds);
  return { ...commit, program: join(directory, "dist/main.js"), isReused };
}

async function build(commit: Commit, directory: string, { repository, builds }: BuildPlace): Promise<void> {
  const draft = `${directory}.draft`;
  const archive = `${draft}.tar`;
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { recursive: true });
  try {
    await runStep(commit, repository, ["git", "archive", "--output", archive, commit.id]);
    await runStep(commit, builds, ["tar", "-xf", archive, "-C", draft]);
    // Installs the packages of its own lock file, too.
    await runStep(commit, draft, ["npm", "run", "build"]);
    await runStep(commit, draft, ["npm", "prune", "--omit=dev", "--ignore-scripts"]);
    if (!existsSync(join(draft, "dist/main.js"))) throw new Error(`${name(commit)} builds no dist/main.js.`);
    renameSync(draft, directory);
  } finally {
    rmSync(draft, { recursive: true, force: true });
    rmSync(archive, { force: true });
  }
}

async function runStep(commit: Commit, cwd: string, [command = "", ...args]: string[]): Promise<void> {
  // npm and its scripts get the Node of this process, which runs both builds later.
  const env = {
    ...process.env,
    PATH: `${dirname(process.execPath)}${delimiter}${process.env["PATH"] ?? ""}`,
  };
  const result = await runCommand(command, args, { cwd, env, timeoutMs: BUILD_TIMEOUT_MS });
  if (result.code === 0) return;
  const output = `${result.stdout}\n${result.stderr}`.trim().slice(-3_000);
  throw new Error(`Cannot build ${name(commit)}: "${[command, ...args].join(" ")}" failed.\n${output}`);
}

function name({ id, subject }: Commit): string {
  return `commit ${id} (${subject})`;
}

function removeOldBuilds(builds: string): void {
  const newestFirst = readdirSync(builds)
    .map((entry) => join(builds, entry))
    .toSorted((one, other) => statSync(other).mtimeMs - statSync(one).mtimeMs);
  for (const old of newestFirst.slice(KEPT_BUILDS)) rmSync(old, { recursive: true, force: true });
}
