import { spawn } from "node:child_process";

/** Bound of the kept output: enough to find the cause, without filling the memory. */
const MAX_OUTPUT_CHARACTERS = 64 * 1024;

/**
 * Result of a command. `code` is null if it could not be started or was ended by a signal.
 *
 * @typedef {{code: number | null, stdout: string, stderr: string}} CommandResult
 */

/**
 * Runs a command to its end and keeps the last 64 Ki characters of each output. Never rejects: a command that
 * does not exist, or exceeds `timeoutMs`, gives `code: null` with the reason at the end of `stderr`.
 *
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{cwd?: string, env?: NodeJS.ProcessEnv, timeoutMs?: number, argv0?: string}} [options] `timeoutMs`
 * 15 minutes by default; `argv0` the program's own name
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
      // A file that is not a program (ENOEXEC, ENOTDIR) throws, instead of the event below.
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
 * Returns the last non-empty line of a tool's output, in which npm, pip and apt report errors.
 *
 * @param {CommandResult} result
 * @returns {string}
 */
export function lastLine(result) {
  const lines = `${result.stdout}\n${result.stderr}`.split("\n").map((line) => line.trim());
  // Not `findLast`, since this also runs on an old Node.
  return lines.filter((line) => line !== "").pop() ?? "no output";
}
