/** A build of an older commit of this repository, from its own history: what runs beside the new one during an upgrade. */
import { execFile, spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { isInstalled } from "../../src/setup/packages.js";

const run = promisify(execFile);
const REPOSITORY = fileURLToPath(new URL("../../", import.meta.url));

export interface OlderBuild {
  /** Its program, as `dist/main.js` is that of this checkout. */
  readonly main: string;
  /** Takes it away. */
  remove(): Promise<void>;
}

/** Why a commit cannot be built here, in words that go behind a skipped test's name; null: it can. */
export function whyNotBuildable(commit: string): string | null {
  const short = commit.slice(0, 8);
  const found = spawnSync("git", ["cat-file", "-e", `${commit}^{commit}`], {
    cwd: REPOSITORY,
    encoding: "utf8",
  });
  if (found.error !== undefined) return `takes git, for commit ${short}: ${found.error.message}`;
  if (found.status === 0) return null;
  const said = found.stderr.trim().split("\n").at(-1) ?? "";
  return `takes commit ${short}, which this clone's history does not have (git fetch --unshallow): ${said}`;
}

/**
 * Builds a commit in a folder of its own, as its own `npm run build` does: with the packages of this checkout where they
 * are those of its lock file, else with its own.
 */
export async function buildOlder(commit: string): Promise<OlderBuild> {
  const dir = await mkdtemp(join(tmpdir(), "igw-older-"));
  const remove = () => rm(dir, { recursive: true, force: true });
  try {
    const archive = join(dir, "sources.tar");
    await run("git", ["archive", "--output", archive, commit], { cwd: REPOSITORY });
    await run("tar", ["-xf", archive, "-C", dir]);
    if (await hasItsPackages(dir)) await symlink(join(REPOSITORY, "node_modules"), join(dir, "node_modules"));
    await run(process.execPath, [join(dir, "src/setup/build-command.js")], { cwd: dir });
    return { main: join(dir, "dist/main.js"), remove };
  } catch (thrown) {
    await remove();
    throw thrown;
  }
}

async function hasItsPackages(dir: string): Promise<boolean> {
  const read = async (path: string) => JSON.parse(await readFile(path, "utf8")) as object;
  const installed = await read(join(REPOSITORY, "node_modules/.package-lock.json"));
  return isInstalled(await read(join(dir, "package-lock.json")), installed);
}
