/** Codex as a person runs it: the native program of the registry's package, headless, with a home of its own. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startChild } from "./child.ts";
import { ensurePackagedProgram, type FoundProgram, isolatedEnvironment } from "./packaged-program.ts";

export const CODEX_VERSION = "0.171.0";
/** Newest version of the minor line before: there is no other major. */
export const PREVIOUS_CODEX_VERSION = "0.169.0";
/** The folder of each platform's program in its package. */
const TARGETS: Readonly<Record<string, string>> = {
  "linux-x64": "x86_64-unknown-linux-musl",
  "linux-arm64": "aarch64-unknown-linux-musl",
  "darwin-x64": "x86_64-apple-darwin",
  "darwin-arm64": "aarch64-apple-darwin",
};

export const ensureCodex = (): Promise<FoundProgram> => ensureVersion(CODEX_VERSION, "IGW_CODEX");
export const ensurePreviousCodex = (): Promise<FoundProgram> =>
  ensureVersion(PREVIOUS_CODEX_VERSION, "IGW_PREVIOUS_CODEX");

function ensureVersion(version: string, variable: string): Promise<FoundProgram> {
  return ensurePackagedProgram({
    name: `codex-${version}`,
    variable,
    program: "bin/codex",
    packages: Object.fromEntries(
      Object.entries(TARGETS).map(([platform, target]) => [
        platform,
        { requirement: `@openai/codex@${version}-${platform}`, folder: `vendor/${target}` },
      ]),
    ),
  });
}

export interface CodexRun {
  readonly exitCode: number | string;
  /** What `--json` prints, one object a line. */
  readonly events: readonly CodexEvent[];
  readonly stderr: string;
  /** What its user reads at the end: the last message of the agent. */
  readonly answer: string | null;
  /** What its user is told went wrong. */
  readonly errors: readonly string[];
}

export interface CodexEvent {
  readonly type: string;
  readonly message?: string;
  readonly error?: { readonly message: string };
  readonly item?: { readonly type: string; readonly text?: string; readonly message?: string };
}

export interface CodexSession {
  /** Folder in which it works. */
  readonly dir: string;
  /** One headless run to its end. */
  run(prompt: string, options?: RunOptions): Promise<CodexRun>;
  cleanUp(): Promise<void>;
}

export interface RunOptions {
  /** Goes on with the session of the run before. */
  readonly resume?: boolean;
  /** When it resolves, its user presses Ctrl-C. */
  readonly interruptWhen?: () => Promise<unknown>;
}

export interface CodexOptions {
  readonly program: string;
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly model: string;
  /** The provider that it brings, with another base URL, instead of one of the user's own: tries a WebSocket first. */
  readonly isBuiltIn?: boolean;
  /** Lines of its configuration, before the first table. */
  readonly settings?: readonly string[];
  /** Lines of the provider's table. */
  readonly provider?: readonly string[];
}

/** A home and a folder to work in, with everything that it would do by itself turned off. */
export async function openCodex(options: CodexOptions): Promise<CodexSession> {
  const home = await mkdtemp(join(tmpdir(), "igw-codex-"));
  const dir = join(home, "work");
  await mkdir(dir);
  await mkdir(join(home, ".codex"));
  await writeFile(join(home, ".codex", "config.toml"), formatConfig(options));
  return {
    dir,
    run: (prompt, runOptions = {}) => runCodex(options, { home, dir, prompt, ...runOptions }),
    cleanUp: () => rm(home, { recursive: true, force: true }),
  };
}

function formatConfig(options: CodexOptions): string {
  const { baseUrl, model, isBuiltIn = false, settings = [], provider = [] } = options;
  return [
    `model = "${model}"`,
    isBuiltIn ? `openai_base_url = "${baseUrl}/v1"` : 'model_provider = "gateway"',
    'approval_policy = "never"',
    'sandbox_mode = "danger-full-access"',
    "check_for_update_on_startup = false",
    ...settings,
    "[analytics]",
    "enabled = false",
    "[model_providers.gateway]",
    'name = "gateway"',
    `base_url = "${baseUrl}/v1"`,
    'env_key = "GATEWAY_API_KEY"',
    'wire_api = "responses"',
    ...provider,
    "",
  ].join("\n");
}

async function runCodex(
  { program, apiKey }: CodexOptions,
  session: RunOptions & { readonly home: string; readonly dir: string; readonly prompt: string },
): Promise<CodexRun> {
  const { home, dir, prompt, resume = false, interruptWhen } = session;
  const args = ["exec", ...(resume ? ["resume", "--last"] : []), "--json", "--skip-git-repo-check", prompt];
  const child = startChild(program, args, {
    cwd: dir,
    env: {
      ...isolatedEnvironment(home),
      CODEX_HOME: join(home, ".codex"),
      GATEWAY_API_KEY: apiKey,
      OPENAI_API_KEY: apiKey,
      CODEX_API_KEY: apiKey,
    },
  });
  try {
    if (interruptWhen !== undefined) {
      await interruptWhen();
      child.signal("SIGINT");
    }
    const exitCode = await child.waitForEnd(90_000);
    const events = child.stdoutLines
      .filter((line) => line.startsWith("{"))
      .map((line) => JSON.parse(line) as CodexEvent);
    const answers = events.flatMap(({ item }) => (item?.type === "agent_message" ? [item.text ?? ""] : []));
    return {
      exitCode,
      events,
      stderr: child.stderr,
      answer: answers.at(-1) ?? null,
      errors: events.flatMap(({ type, message, error }) =>
        type === "error" || type === "turn.failed" ? [message ?? error?.message ?? ""] : [],
      ),
    };
  } catch (thrown) {
    await child.stop(5_000);
    throw thrown;
  }
}
