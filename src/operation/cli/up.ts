import type { Command } from "commander";
import type { Config } from "../../shared/config/schema.ts";
import { entryFile } from "../../shared/host/package-files.ts";
import { cleanText } from "../../shared/text/plain-text.ts";
import { openScreen } from "./terminal/screen.ts";
import { chooseConfig, type UpConfigOptions } from "./up-config.ts";

/** `up`: the whole stack on one machine. */
export function addUpCommand(program: Command): void {
  program
    .command("up")
    .summary("start the whole stack on this machine")
    .description(
      "Start Redis (unless the configuration names one), the gateway and Envoy, and print base URL, API key and dashboard. Without --config or a gateway.yaml in this directory, start a demo model on ports 10000 and 10001. Ctrl-C stops everything; the data in ./data stays.",
    )
    .option(
      "--config <file>",
      "gateway.yaml; default: the one in this directory, unless it references secrets",
    )
    .option(
      "--upstream <url>",
      "base URL of a running model server, such as http://127.0.0.1:8000/v1: its models are written into a new gateway.yaml, with prices of 0",
    )
    .option("--upstream-key-env <name>", "environment variable with the API key of this model server")
    .option("--json", "one JSON line when ready: base_url, admin_url, admin_token, demo_key")
    .action((options: UpCommandOptions) => upAction(options));
}

interface UpCommandOptions extends UpConfigOptions {
  readonly json?: true;
}

async function upAction(options: UpCommandOptions): Promise<void> {
  const { launch } = await import("../launcher/launch.ts");
  const code = await launch({
    configFile: await chooseConfig(options),
    json: options.json === true,
    entry: entryFile(),
    afterStart: tellProblems,
  });
  process.exit(code);
}

/** What `doctor` calls a problem: on stderr, a line each. */
async function tellProblems(config: Config): Promise<void> {
  const { examineRunning } = await import("../doctor/doctor.ts");
  const problems = (await examineRunning(config)).filter(({ level }) => level === "problem");
  if (problems.length === 0) return;
  const screen = openScreen(process.stderr, { env: process.env });
  const lines = problems.map(({ message, fix }) => {
    return `  ${screen.paint("bad", cleanText(message))}${fix === null ? "" : ` → ${cleanText(fix)}`}\n`;
  });
  process.stderr.write(`Problems found at startup:\n${lines.join("")}\n`);
}
