import type { Command } from "commander";
import { fileURLToPath } from "node:url";
import { entryUrl } from "./entry-url.ts";

/** `up`: the whole stack on one machine. */
export function addUpCommand(program: Command): void {
  program
    .command("up")
    .summary("start the whole stack on this machine")
    .description(
      "Starts a private Redis (unless the configuration names one), the gateway and Envoy, and prints base URL, API key, " +
        "dashboard and a request to paste. Without --config: a demo model, ports 10000 and 10001, data in ./data. " +
        "Ctrl-C stops everything; the data stays.",
    )
    .option("--config <file>", "gateway.yaml; its relative paths are resolved against its folder")
    .option("--json", "print one JSON line when ready: base_url, admin_url, admin_token, demo_key")
    .action((options: { config?: string; json?: true }) => upAction(options));
}

async function upAction(options: { config?: string; json?: true }): Promise<void> {
  const { launch } = await import("../launcher/launch.ts");
  const code = await launch({
    configFile: options.config ?? null,
    json: options.json === true,
    entry: fileURLToPath(entryUrl()),
  });
  process.exit(code);
}
