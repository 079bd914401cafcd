/** Programs that packaging tests need and that a machine may lack: then they are skipped, and say so. */
import { execFile, spawnSync } from "node:child_process";
import { promisify } from "node:util";

const execute = promisify(execFile);

export interface ToolCheck {
  /** Null: it works. Else why it does not. */
  readonly missing: string | null;
}

/**
 * Whether a program answers.
 * @throws Error when it does not and the variable `required` is set, as in CI: there nothing is skipped.
 */
export function checkTool(
  command: string,
  args: readonly string[],
  required: string,
  timeoutMs = 20_000,
): ToolCheck {
  const { status, error, stderr } = spawnSync(command, args, { encoding: "utf8", timeout: timeoutMs });
  if (status === 0) return { missing: null };
  const reason = error?.message ?? (stderr.trim().split("\n").at(-1) || `exit code ${status}`);
  const missing = `\`${command} ${args.join(" ")}\`: ${reason}`;
  if (process.env[required]) throw new Error(`${required} is set, but ${missing}`);
  process.stderr.write(`skipped, ${missing}\n`);
  return { missing };
}

/** Whether the engine has an image, or gets it from its registry. */
export function checkImage(image: string, required: string): ToolCheck {
  const { status } = spawnSync("docker", ["image", "inspect", image], { timeout: 20_000 });
  return status === 0
    ? { missing: null }
    : checkTool("docker", ["pull", "--quiet", image], required, 180_000);
}

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly timeoutMs?: number;
}

/** What a program wrote, and how it ended. Never rejects. */
export async function run(
  command: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<{ code: number; stdout: string; stderr: string }> {
  const { cwd, env = process.env, timeoutMs = 60_000 } = options;
  const settings = { cwd, env, timeout: timeoutMs, maxBuffer: 32 * 1024 * 1024 };
  return execute(command, [...args], settings).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (error: { code?: number | string; stdout?: string; stderr?: string; message: string }) => ({
      code: typeof error.code === "number" ? error.code : -1,
      stdout: error.stdout ?? "",
      stderr: error.stderr || error.message,
    }),
  );
}
