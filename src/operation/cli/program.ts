import type { Command } from "commander";
import { addCompletionCommand } from "./completion/completion.ts";
import { addConfigCommands } from "./config.ts";
import { addDemoUpstreamCommand } from "./demo-upstream.ts";
import { addDoctorCommand } from "./doctor.ts";
import { addEnvoyCommands } from "./envoy.ts";
import { addManagementCommands } from "./management/management.ts";
import { addCommands } from "./management/management-command.ts";
import { explainCommand } from "./explain.ts";
import { createStackProgram } from "./stack-program.ts";
import { addUsageVerifyCommands } from "./usage-verify.ts";

const EXAMPLES = `
Examples:
  inference-gateway up
  inference-gateway up --upstream http://127.0.0.1:8000/v1
  inference-gateway up --config gateway.yaml --json
  inference-gateway config check --config gateway.yaml
  inference-gateway envoy render --config gateway.yaml --into my-envoy.yaml
  inference-gateway serve --config gateway.yaml
  inference-gateway doctor
  inference-gateway org create --name Acme --currency USD --hard-cap 1000.00
  inference-gateway key create --org Acme --name ci --hard-cap 50.00
  inference-gateway usage show --org Acme --group-by key,model
`;

/** Creates the whole command line. Each command loads its modules when it runs, so that help appears at once. */
export function createProgram(): Command {
  const program = createStackProgram().addHelpText("after", EXAMPLES);
  addConfigCommands(program);
  addEnvoyCommands(program);
  addDoctorCommand(program);
  addDemoUpstreamCommand(program);
  addManagementCommands(program);
  addUsageVerifyCommands(program);
  addCommands(program, [explainCommand]);
  addCompletionCommand(program);
  return program;
}
