import { Command } from "commander";
import { readVersion } from "../../shared/host/package-files.ts";
import { addServeCommands } from "./serve.ts";
import { openScreen } from "./terminal/screen.ts";
import { addUpCommand } from "./up.ts";

/** What the processes of a stack are started by. */
const COMMANDS: ReadonlySet<string | undefined> = new Set(["up", "serve", "worker", "admin"]);

/** Whether a command line, as `process.argv` has it, needs `createStackProgram` alone. */
export function isStackCommand(argv: readonly string[]): boolean {
  return COMMANDS.has(argv[2]);
}

/**
 * The program with these commands, the first ones of all. Apart from the others, whose tables of settings, options and
 * columns are half of what the start of such a process would take.
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
