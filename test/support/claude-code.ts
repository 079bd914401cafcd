/** Claude Code as a person runs it: the native program of the registry's package, headless, with a home of its own. */
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startChild } from "./child.ts";
import {
  ensurePackagedProgram,
  type FoundProgram,
  isolatedEnvironment,
  type PlatformPackage,
} from "./packaged-program.ts";

export const CLAUDE_CODE_VERSION = "2.1.332";
/** Newest version of the line before, still a program for Node. The last one of major 1 does not start on Node 26. */
export const PREVIOUS_CLAUDE_CODE_VERSION = "2.0.77";
const PLATFORMS = ["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64"];

export function ensurePreviousClaudeCode(): Promise<FoundProgram> {
  const requirement = `@anthropic-ai/claude-code@${PREVIOUS_CLAUDE_CODE_VERSION}`;
  return ensurePackagedProgram({
    name: `claude-code-${PREVIOUS_CLAUDE_CODE_VERSION}`,
    variable: "IGW_PREVIOUS_CLAUDE_CODE",
    program: "cli.js",
    packages: Object.fromEntries(PLATFORMS.map((platform) => [platform, { requirement, folder: "." }])),
  });
}

export function ensureClaudeCode(): Promise<FoundProgram> {
  const packageOf = (platform: string): PlatformPackage => ({
    requirement: `@anthropic-ai/claude-code-${platform}@${CLAUDE_CODE_VERSION}`,
    folder: ".",
  });
  return ensurePackagedProgram({
    name: `claude-code-${CLAUDE_CODE_VERSION}`,
    variable: "IGW_CLAUDE_CODE",
    program: "claude",
    packages: Object.fromEntries(PLATFORMS.map((platform) => [platform, packageOf(platform)])),
  });
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
      ...isolatedEnvironment(home),
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
