import type { Command } from "commander";
import type { InstalledEnvoy } from "./config-check-envoy.ts";

interface CheckCommandOptions {
  readonly config: string;
  readonly envoy?: string;
  readonly validate: boolean;
  readonly withoutSecrets?: true;
  readonly json?: true;
}

export function addConfigCommands(program: Command): void {
  const config = program.command("config").description("Check a configuration.");
  config
    .command("check")
    .description(
      "Print all problems of a gateway.yaml, and with --envoy of an Envoy bootstrap, with their line numbers. Exit code 1 if there is a problem.",
    )
    .requiredOption("--config <file>", "gateway.yaml")
    .option("--envoy <file>", "Envoy bootstrap of your own, checked against this configuration")
    .option("--no-validate", "with --envoy: skip the validation by Envoy itself")
    .option(
      "--without-secrets",
      "for a pipeline: skip the check that environment variables and files of secrets exist",
    )
    .option("--json", "one JSON object on stdout")
    .action((options: CheckCommandOptions) => checkAction(options));
}

async function checkAction(options: CheckCommandOptions): Promise<void> {
  const { stdout, stderr } = process;
  const common = { file: options.config, stdout, stderr, json: options.json === true };
  if (options.envoy === undefined) {
    const { configCheck } = await import("./config-check.ts");
    const secrets = options.withoutSecrets === true ? "none" : "all";
    process.exitCode = await configCheck({ ...common, secrets });
    return;
  }
  const { configCheckEnvoy } = await import("./config-check-envoy.ts");
  const envoy = options.validate ? await findInstalledEnvoy() : null;
  const paths = { envoyFile: options.envoy, envoy };
  // The upstreams' credentials may only exist on Envoy's host.
  process.exitCode = await configCheckEnvoy({ ...common, ...paths, secrets: "none" });
}

/**
 * Finds the Envoy that the setup would use: ENVOY_BIN, PATH, or installed by `npm start`. Installs none for a
 * check.
 */
async function findInstalledEnvoy(): Promise<InstalledEnvoy | null> {
  const { findEnvoy, readEnvoyVersion } = await import("../setup/envoy.ts");
  const { createToolContext } = await import("../setup/tool-context.ts");
  const context = createToolContext();
  const tool = await findEnvoy(context);
  if (tool === null) return null;
  return { path: tool.path, version: await readEnvoyVersion(context, tool.path) };
}
