import { type Command, CommanderError } from "commander";
import { cleanLines } from "../../shared/text/plain-text.ts";
import { UsageError } from "./management/command-error.ts";
import { createStackProgram, isStackCommand } from "./stack-program.ts";
import { openScreen } from "./terminal/screen.ts";

/** Exit code for an invalid command line: unknown command, missing option. */
const USAGE_EXIT_CODE = 2;

/** Errors that are shown without a stack. Any other error is a defect. */
const EXPECTED = new Set([
  "LaunchError",
  "SetupError",
  "ConfigError",
  "StartError",
  "CommandError",
  "UsageError",
]);

/**
 * Runs a command line from `process.argv`. Resolves with the exit code after the end, null if it keeps
 * running (`serve`, a worker) and ends by itself.
 */
export async function runProgram(argv: readonly string[]): Promise<number | null> {
  try {
    const program = isStackCommand(argv) ? createStackProgram() : await loadProgram();
    await program.parseAsync([...argv]);
    return null;
  } catch (error) {
    if (isClosedPipe(error)) return 0;
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE_EXIT_CODE;
    const screen = openScreen(process.stderr, { env: process.env });
    process.stderr.write(`${screen.paint("bad", cleanLines(formatFailure(error)))}\n`);
    return error instanceof UsageError ? USAGE_EXIT_CODE : 1;
  }
}

/** Returns whether it is the error of a closed stdout pipe; files have no such error. */
function isClosedPipe(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "EPIPE";
}

async function loadProgram(): Promise<Command> {
  const { createProgram } = await import("./program.ts");
  return createProgram();
}

function formatFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return EXPECTED.has(error.name) ? error.message : (error.stack ?? error.message);
}
