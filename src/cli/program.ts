import { Command } from "commander";
import { readVersion } from "../package-files.ts";
import { addCompletionCommand } from "./completion/completion.ts";
import { addConfigCommands } from "./config.ts";
import { addDemoUpstreamCommand } from "./demo-upstream.ts";
import { addDoctorCommand } from "./doctor.ts";
import { addEnvoyCommands } from "./envoy.ts";
import { addManagementCommands } from "./management/management.ts";
import { addExplainCommand } from "./explain.ts";
import { addServeCommands } from "./serve.ts";
import { addUpCommand } from "./up.ts";
import { openScreen } from "./terminal/screen.ts";
import { addUsageVerifyCommands } from "./usage-verify.ts";

const EXAMPLES = `
Examples:
  inference-gateway up                                  everything on this machine, with a demo model
  inference-gateway up --upstream http://127.0.0.1:8000/v1   for a model server that runs: writes a first gateway.yaml
  inference-gateway up --config gateway.yaml --json     the same for your own models, for a script
  inference-gateway config check --config gateway.yaml  all mistakes in a configuration at once
  inference-gateway envoy render --config gateway.yaml  Envoy's bootstrap, to own and edit
  inference-gateway envoy render --config gateway.yaml --into my-envoy.yaml   the same, into a bootstrap of your own
  inference-gateway serve --config gateway.yaml         the sidecar alone, as in a container
  inference-gateway doctor                              what is wrong with the gateway of this folder, and what to do
  inference-gateway org create --name Acme --currency USD --hard-cap 1000.00
  inference-gateway key create --org Acme --name ci --hard-cap 50.00
  inference-gateway usage show --org Acme --group-by key,model
`;

/** The whole command line. Each command loads what it needs when it runs, so that help is there at once. */
export function createProgram(): Command {
  const program = new Command("inference-gateway")
    .description(
      "API keys, rate limits and spend caps in front of hosted language models, as a sidecar of Envoy.",
    )
    .version(readVersion(), "-V, --version")
    .showHelpAfterError("(--help lists what there is)")
    .configureOutput({ outputError: (text, write) => write(`${paintError(text.trimEnd())}\n`) })
    .addHelpText("after", EXAMPLES)
    .exitOverride();
  addUpCommand(program);
  addServeCommands(program);
  addConfigCommands(program);
  addEnvoyCommands(program);
  addDoctorCommand(program);
  addDemoUpstreamCommand(program);
  addManagementCommands(program);
  addUsageVerifyCommands(program);
  addExplainCommand(program);
  addCompletionCommand(program);
  return program;
}

function paintError(text: string): string {
  return openScreen(process.stderr, { env: process.env }).paint("bad", text);
}
