import type { Command } from "commander";

/** `envoy render`. */
export function addEnvoyCommands(program: Command): void {
  const envoy = program.command("envoy").description("Envoy's configuration.");
  envoy
    .command("render")
    .description(
      "Prints the Envoy bootstrap for a gateway.yaml, to own and edit. It holds no secret: the upstreams' credentials " +
        "are files that it names.",
    )
    .requiredOption("--config <file>", "gateway.yaml")
    .option(
      "--secrets <dir>",
      "folder of the upstreams' credentials; default: `secrets` in the folder of sockets",
    )
    .option("--access-log <file>", "the access log's file; default: standard output")
    .action((options: RenderCommandOptions) => renderAction(options));
}

interface RenderCommandOptions {
  readonly config: string;
  readonly secrets?: string;
  readonly accessLog?: string;
}

async function renderAction(options: RenderCommandOptions): Promise<void> {
  const { loadConfig } = await import("../config/load.ts");
  const { renderBootstrap } = await import("../envoy/bootstrap/render-bootstrap.ts");
  const config = loadConfig(options.config, { secrets: "none" });
  const bootstrap = renderBootstrap(config, {
    ...(options.secrets === undefined ? {} : { secretsDirectory: options.secrets }),
    ...(options.accessLog === undefined ? {} : { accessLogFile: options.accessLog }),
  });
  process.stdout.write(bootstrap);
}
