import type { Command } from "commander";

/** `config check`. */
export function addConfigCommands(program: Command): void {
  const config = program.command("config").description("Looks at a configuration.");
  config
    .command("check")
    .description("Prints all problems of a gateway.yaml at once, with their places; starts nothing.")
    .requiredOption("--config <file>", "gateway.yaml")
    .option("--json", "one JSON object on stdout")
    .action((options: { config: string; json?: true }) => checkAction(options));
}

async function checkAction(options: { config: string; json?: true }): Promise<void> {
  const { configCheck } = await import("./config-check.ts");
  const { stdout, stderr } = process;
  process.exitCode = await configCheck({ file: options.config, stdout, stderr, json: options.json === true });
}
