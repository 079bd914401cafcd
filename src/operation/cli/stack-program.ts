import { Command } from "commander";
import { readVersion } from "../../shared/host/package-files.ts";
import { addServeCommands } from "./serve.ts";
import { openScreen } from "./terminal/screen.ts";
import { addUpCommand } from "./up.ts";

/** Commands that start the processes of a stack. */
const COMMANDS: ReadonlySet<string | undefined> = new Set(["up", "serve", "worker", "admin"]);

/** Returns whether a command line from `process.argv` only needs `createStackProgram`. */
export function isStackCommand(argv: readonly string[]): boolean {
  return COMMANDS.has(argv[2]);
}

/**
 * Creates the program with these commands only. Separate from the others, whose tables of settings, options
 * and columns would take half of such a process's start.
 */
export function createStackProgram(): Command {
  const program = new Command("inference-gateway")
    .description(
      "API keys, rate limits and spend caps in front of hosted language models, as a sidecar of Envoy.",
    )
    .version(readVersion(), "-V, --version", "version of this program")
    .helpOption("-h, --help", "this help")
    .configureHelp({
      subcommandDescription: (one) =>
        one.name() === "help" ? "Show the help of a command." : one.summary() || one.description(),
    })
    .showHelpAfterError("(--help lists commands and options)")
    .configureOutput({ outputError: (text, write) => write(`${paintError(text.trimEnd())}\n`) })
    .exitOverride();
  addUpCommand(program);
  addServeCommands(program);
  return program;
}

function paintError(text: string): string {
  return openScreen(process.stderr, { env: process.env }).paint("bad", text);
}
