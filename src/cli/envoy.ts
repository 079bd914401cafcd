import type { Command } from "commander";
import { join } from "node:path";

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
    .option("--out <file>", "where to write it; default: standard output")
    .option(
      "--secrets <dir>",
      "folder of the upstreams' credentials; default: `secrets` in the folder of sockets",
    )
    .option("--write-secrets", "write the upstreams' credentials there too, as files that Envoy reads")
    .option(
      "--sidecar-host <host>",
      "where Envoy finds the workers of `sidecar.tcp` when they listen on 0.0.0.0",
    )
    .option("--access-log <file>", "the access log's file; default: standard output")
    .action((options: RenderCommandOptions) => renderAction(options));
}

interface RenderCommandOptions {
  readonly config: string;
  readonly out?: string;
  readonly secrets?: string;
  readonly writeSecrets?: true;
  readonly sidecarHost?: string;
  readonly accessLog?: string;
}

async function renderAction(options: RenderCommandOptions): Promise<void> {
  const { loadConfig } = await import("../config/load.ts");
  const { renderBootstrap } = await import("../envoy/bootstrap/render-bootstrap.ts");
  // Writing them reads the upstreams' credentials, and says which is missing; no other secret is needed here.
  const config = loadConfig(options.config, { secrets: "none" });
  const bootstrap = renderBootstrap(config, {
    ...(options.secrets === undefined ? {} : { secretsDirectory: options.secrets }),
    ...(options.sidecarHost === undefined ? {} : { sidecarHost: options.sidecarHost }),
    ...(options.accessLog === undefined ? {} : { accessLogFile: options.accessLog }),
  });
  if (options.writeSecrets) {
    const { writeUpstreamSecrets } = await import("../envoy/bootstrap/upstream-secrets.ts");
    await writeUpstreamSecrets(config, options.secrets ?? join(config.sidecar.sockets, "secrets"));
  }
  if (options.out === undefined) {
    process.stdout.write(bootstrap);
    return;
  }
  const { writeFile } = await import("node:fs/promises");
  await writeFile(options.out, bootstrap);
}
