import type { Command } from "commander";
import type { Config } from "../config/schema.ts";
import { entryFile } from "../host/package-files.ts";
import { cleanText } from "../text/plain-text.ts";
import { openScreen } from "./terminal/screen.ts";
import { chooseConfig, type UpConfigOptions } from "./up-config.ts";

/** `up`: the whole stack on one machine. */
export function addUpCommand(program: Command): void {
  program
    .command("up")
    .summary("start the whole stack on this machine")
    .description(
      "Starts a private Redis (unless the configuration names one), the gateway and Envoy, and prints base URL, API key, " +
        "dashboard and a request to paste. Without --config: the gateway.yaml of this folder, or, where there is none, a " +
        "demo model, ports 10000 and 10001, data in ./data. " +
        "Ctrl-C stops everything; the data stays.",
    )
    .option(
      "--config <file>",
      "default: gateway.yaml of this folder, unless it refers to secrets; its relative paths are resolved against its folder",
    )
    .option(
      "--upstream <url>",
      "base URL of a model server that runs, http://127.0.0.1:8000/v1: its models are asked for and written into a " +
        "first gateway.yaml (or the file of --config), prices 0; one that is there is not written over",
    )
    .option("--upstream-key-env <name>", "environment variable with the key that this model server wants")
    .option("--json", "print one JSON line when ready: base_url, admin_url, admin_token, demo_key")
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
  process.stderr.write(`What is wrong already:\n${lines.join("")}\n`);
}
