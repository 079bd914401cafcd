/** Claude Code as a person runs it: the native program of the registry's package, headless, with a home of its own. */
import { mkdir, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isExecutable } from "../../src/setup/find-executable.ts";
import { lastLine } from "../../src/setup/run-command.js";
import { createToolContext, type ToolContext } from "../../src/setup/tool-context.ts";
import { startChild } from "./child.ts";

const VERSION = "2.1.329";
/** The package has about 170 MB; on a slower line the tests do without. */
const DOWNLOAD_TIMEOUT_MS = 60_000;
const PLATFORMS: ReadonlySet<string> = new Set(["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64"]);

/** Where the program is, or why it cannot be had here. */
export type ClaudeCode =
  | { readonly path: string; readonly missing: null }
  | { readonly path: null; readonly missing: string };

/**
 * Finds Claude Code: IGW_CLAUDE_CODE (a path, or `off`), else what an earlier run put into `.tools`, else the package of
 * the npm registry. Never throws: where it cannot be had, the answer says why.
 */
export async function ensureClaudeCode(): Promise<ClaudeCode> {
  const context = createToolContext();
  const named = context.env["IGW_CLAUDE_CODE"] ?? "";
  if (named === "off") return { path: null, missing: "IGW_CLAUDE_CODE is `off`" };
  const platform = `${context.platform}-${context.architecture}`;
  if (named === "" && !PLATFORMS.has(platform)) {
    return { path: null, missing: `there is no package for ${platform}` };
  }
  const installed = join(context.toolsDir, `claude-code-${VERSION}`, "claude");
  const path = named === "" ? installed : named;
  if (named === "" && !isExecutable(path)) {
    const failure = await download(context, `@anthropic-ai/claude-code-${platform}@${VERSION}`, installed);
    if (failure !== null) return { path: null, missing: `the package could not be had (${failure})` };
  }
  const started = await context.run(path, ["--version"], { timeoutMs: 30_000 });
  if (started.code !== 0) return { path: null, missing: `${path} does not run (${lastLine(started)})` };
  return { path, missing: null };
}

/** Null when the program is there, else what went wrong. */
async function download(context: ToolContext, requirement: string, program: string): Promise<string | null> {
  await mkdir(context.toolsDir, { recursive: true });
  // Made beside its place and moved there when it is whole.
  const dir = await mkdtemp(join(context.toolsDir, "claude-code-"));
  try {
    const pack = ["pack", requirement, "--pack-destination", dir, "--loglevel=error"];
    const packed = await context.run("npm", pack, { timeoutMs: DOWNLOAD_TIMEOUT_MS });
    const archive = (await readdir(dir)).find((name) => name.endsWith(".tgz"));
    if (packed.code !== 0 || archive === undefined) return `npm pack: ${lastLine(packed)}`;
    const unpack = ["-xzf", join(dir, archive), "-C", dir];
    const unpacked = await context.run("tar", unpack, { timeoutMs: DOWNLOAD_TIMEOUT_MS });
    if (unpacked.code !== 0) return `tar: ${lastLine(unpacked)}`;
    await mkdir(join(program, ".."), { recursive: true });
    await rename(join(dir, "package", "claude"), program);
    return null;
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

export interface ClaudeRun {
  /** Folder in which it works. */
  readonly dir: string;
  readonly exitCode: number | string;
  readonly stderr: string;
  /** The one object that `--output-format json` prints; null when it printed none. */
  readonly result: Record<string, unknown> | null;
}

export interface ClaudeRunOptions {
  readonly program: string;
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly model: string;
  readonly prompt: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
}

/** One headless run to its end. The folder goes with `cleanUp`. */
export async function runClaude(
  options: ClaudeRunOptions,
): Promise<ClaudeRun & { cleanUp(): Promise<void> }> {
  const home = await mkdtemp(join(tmpdir(), "igw-claude-"));
  const dir = join(home, "work");
  await mkdir(dir);
  const args = ["-p", options.prompt, "--model", options.model, "--output-format", "json"];
  const child = startChild(options.program, [...args, ...(options.args ?? [])], {
    cwd: dir,
    env: {
      PATH: process.env["PATH"],
      HOME: home,
      // Whatever else is set on this machine must not reach it, a proxy least of all.
      NO_PROXY: "127.0.0.1,localhost",
      ANTHROPIC_BASE_URL: options.baseUrl,
      ANTHROPIC_API_KEY: options.apiKey,
      ANTHROPIC_SMALL_FAST_MODEL: options.model,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_TELEMETRY: "1",
      DISABLE_ERROR_REPORTING: "1",
      DISABLE_AUTOUPDATER: "1",
      ...options.env,
    },
  });
  try {
    const exitCode = await child.waitForEnd(options.timeoutMs ?? 90_000);
    const line = child.stdoutLines.find((text) => text.startsWith("{"));
    const result = line === undefined ? null : (JSON.parse(line) as Record<string, unknown>);
    return {
      dir,
      exitCode,
      stderr: child.stderr,
      result,
      cleanUp: () => rm(home, { recursive: true, force: true }),
    };
  } catch (thrown) {
    await child.stop(5_000);
    await rm(home, { recursive: true, force: true });
    throw thrown;
  }
}
