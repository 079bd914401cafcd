import { type Command, CommanderError } from "commander";
import { cleanLines } from "../../shared/text/plain-text.ts";
import { UsageError } from "./management/command-error.ts";
import { createStackProgram, isStackCommand } from "./stack-program.ts";
import { openScreen } from "./terminal/screen.ts";

/** A command line that nobody can run: unknown command, missing option. */
const USAGE_EXIT_CODE = 2;

/** Errors whose message says it all. Whatever else is thrown is a defect, and its stack is shown. */
const EXPECTED = new Set([
  "LaunchError",
  "SetupError",
  "ConfigError",
  "StartError",
  "CommandError",
  "UsageError",
]);

/**
 * Runs a command line as `process.argv` gives it. Resolves with the exit code of what has ended, null when it goes on
 * running (`serve`, a worker), whose end is its own matter.
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

/** What a pipeline into stdout rejects with; files have no such error. */
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
