import { spawn } from "node:child_process";

/** Enough to find the cause in; a tool that floods its output cannot fill the memory. */
const MAX_OUTPUT_CHARACTERS = 64 * 1024;

/**
 * What became of a command. `code` is null when it could not be started or was ended by a signal.
 *
 * @typedef {{code: number | null, stdout: string, stderr: string}} CommandResult
 */

/**
 * Runs a command to its end and keeps the last 64 Ki characters of each output. Never rejects: a command that does
 * not exist, or outlasts `timeoutMs`, gives `code: null` and says so at the end of `stderr`.
 *
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{cwd?: string, env?: NodeJS.ProcessEnv, timeoutMs?: number, argv0?: string}} [options] `timeoutMs` 15 minutes
 *   by default; `argv0` what the program sees as its own name
 * @returns {Promise<CommandResult>}
 */
export function runCommand(command, args, options = {}) {
  const timeoutMs = options.timeoutMs ?? 15 * 60_000;
  return new Promise((resolve) => {
    /** @type {import("node:child_process").ChildProcessByStdio<null, import("node:stream").Readable, import("node:stream").Readable>} */
    let child;
    try {
      child = spawn(command, args, {
        cwd: options.cwd,
        env: options.env ?? process.env,
        ...(options.argv0 !== undefined && { argv0: options.argv0 }),
        stdio: ["ignore", "pipe", "pipe"],
        timeout: timeoutMs,
        killSignal: "SIGKILL",
      });
    } catch (error) {
      // What is no program at all (ENOEXEC, ENOTDIR) is thrown, and not told by the event below.
      resolve({ code: null, stdout: "", stderr: `${String(error)}\n` });
      return;
    }
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (/** @type {string} */ text) => {
      stdout = (stdout + text).slice(-MAX_OUTPUT_CHARACTERS);
    });
    child.stderr.setEncoding("utf8").on("data", (/** @type {string} */ text) => {
      stderr = (stderr + text).slice(-MAX_OUTPUT_CHARACTERS);
    });
    child.on("error", (error) => resolve({ code: null, stdout, stderr: `${stderr}${error.message}\n` }));
    child.on("close", (code, signal) => {
      resolve({ code, stdout, stderr: signal === null ? stderr : `${stderr}ended by ${signal}\n` });
    });
  });
}

/**
 * The last line with content of a tool's output: where npm, pip and apt say what went wrong.
 *
 * @param {CommandResult} result
 * @returns {string}
 */
export function lastLine(result) {
  const lines = `${result.stdout}\n${result.stderr}`.split("\n").map((line) => line.trim());
  // Not `findLast`: this runs on the Node that a newer one is installed for.
  return lines.filter((line) => line !== "").pop() ?? "no output";
}
