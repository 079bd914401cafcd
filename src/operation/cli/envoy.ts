import { type Command, Option } from "commander";
import { once } from "node:events";
import { join } from "node:path";
import type { Config } from "../../shared/config/schema.ts";
import type { RenderOptions } from "../../envoy/bootstrap/render-options.ts";
import { UsageError } from "./management/command-error.ts";
import type { TextOptions } from "./management/management-command.ts";
import { parseDigits } from "./management/option-values.ts";

export function addEnvoyCommands(program: Command): void {
  const envoy = program.command("envoy").description("Write Envoy's configuration.");
  addRender(envoy);
  addSecrets(envoy);
}

function addRender(envoy: Command): void {
  envoy
    .command("render")
    .description(
      "Print the Envoy bootstrap for a gateway.yaml. It contains no secrets: it names files with the upstreams' credentials.",
    )
    .requiredOption("--config <file>", "gateway.yaml")
    .option("--out <file>", "output file; default: standard output")
    .option("--snippets", "only the parts for an existing Envoy, each with its place")
    .option("--into <file>", "existing bootstrap to merge these parts into; shows the difference first")
    .option("--listener <name>", "with --into: listener, or `listener/filter chain`; default: the only one")
    .option("--domain <name...>", "with --into: host names of the gateway; default: all")
    .option("--write", "with --into: write the file without asking; the previous file is kept next to it")
    .addOption(
      new Option("--as <kind>", "Kubernetes resource for Istio or Envoy Gateway").choices([
        "EnvoyFilter",
        "EnvoyPatchPolicy",
      ]),
    )
    .option(
      "--secrets <dir>",
      "directory of the upstreams' credentials; default: `secrets` in the directory of sockets",
    )
    .option("--write-secrets", "also write the upstreams' credentials there, as files for Envoy")
    .option("--sidecar-host <host>", "host of the workers for Envoy, if `sidecar.tcp` listens on 0.0.0.0")
    .hook("preAction", (command) => refuseMixed(command.opts<RenderCommandOptions>()))
    .option("--access-log <file>", "access log file; default: standard output")
    .option("--cors-origin <origin...>", "browser origins that may call, or `*`; default: none (CORS is off)")
    .option(
      "--trusted-hops <n>",
      "number of trusted proxies in front (x-forwarded-for); default: 0",
      parseDigits(3),
    )
    .action((options: RenderCommandOptions) => renderAction(options));
}

function addSecrets(envoy: Command): void {
  envoy
    .command("secrets")
    .description(
      "Write the files that a rendered bootstrap names: the upstreams' credentials and the paths of certificates. Envoy uses renewed files without a restart.",
    )
    .requiredOption("--config <file>", "gateway.yaml")
    .option("--secrets <dir>", "output directory; default: `secrets` in the directory of sockets")
    .option("--watch", "keep running and write again when a credential file changes")
    .action((options: SecretsCommandOptions) => secretsAction(options));
}

type Flags<Name extends string> = { readonly [One in Name]?: true };

type SecretsCommandOptions = { readonly config: string } & TextOptions<"secrets"> & Flags<"watch">;

type RenderCommandOptions = { readonly config: string } & Flags<"snippets" | "write" | "writeSecrets"> &
  TextOptions<"out" | "into" | "listener" | "secrets" | "sidecarHost" | "accessLog"> & {
    readonly as?: "EnvoyFilter" | "EnvoyPatchPolicy";
    readonly domain?: readonly string[];
    readonly corsOrigin?: readonly string[];
    readonly trustedHops?: number;
  };

async function renderAction(options: RenderCommandOptions): Promise<void> {
  const config = await load(options.config, options.writeSecrets ? "upstreams" : "none");
  if (options.writeSecrets) {
    const { writeUpstreamSecrets } = await import("../../envoy/bootstrap/upstream-secrets.ts");
    await writeUpstreamSecrets(config, secretsFolder(config, options.secrets));
  }
  if (options.into !== undefined) return renderInto(options.into, config, options);
  const render = await findRenderer(options);
  const text = render(config, readOptions(options));
  if (options.out === undefined) {
    process.stdout.write(text);
    return;
  }
  const { writeFile } = await import("node:fs/promises");
  await writeFile(options.out, text);
}

async function renderInto(file: string, config: Config, options: RenderCommandOptions): Promise<void> {
  const { listener = null, domain = [], write = false } = options;
  const { mergeInto } = await import("./envoy-into.ts");
  const merging = { ...readOptions(options), listener, domains: domain };
  await mergeInto({ file, config, configFile: options.config, merging, write });
}

async function findRenderer(
  options: RenderCommandOptions,
): Promise<(config: Config, options: RenderOptions) => string> {
  if (options.as !== undefined) {
    const kubernetes = await import("../../envoy/bootstrap/render-kubernetes.ts");
    return options.as === "EnvoyFilter" ? kubernetes.renderEnvoyFilter : kubernetes.renderEnvoyPatchPolicy;
  }
  if (options.snippets === true) {
    return (await import("../../envoy/bootstrap/render-snippets.ts")).renderSnippets;
  }
  return (await import("../../envoy/bootstrap/render-bootstrap.ts")).renderBootstrap;
}

function readOptions(options: RenderCommandOptions): RenderOptions {
  const { secrets, sidecarHost, accessLog, corsOrigin, trustedHops } = options;
  return {
    ...(secrets === undefined ? {} : { secretsDirectory: secrets }),
    ...(sidecarHost === undefined ? {} : { sidecarHost }),
    ...(accessLog === undefined ? {} : { accessLogFile: accessLog }),
    ...(corsOrigin === undefined ? {} : { corsAllowOrigins: corsOrigin }),
    ...(trustedHops === undefined ? {} : { trustedHops }),
  };
}

/** @throws UsageError */
function refuseMixed({ into, listener, domain, write, out, snippets, as }: RenderCommandOptions): void {
  if (into === undefined && (listener ?? domain ?? write) !== undefined) {
    throw new UsageError("--listener, --domain and --write need --into.");
  }
  if (into !== undefined && (out ?? snippets ?? as) !== undefined) {
    throw new UsageError("--into can't be combined with --out, --snippets or --as.");
  }
}

async function secretsAction(options: SecretsCommandOptions): Promise<void> {
  const secrets = await import("../../envoy/bootstrap/upstream-secrets.ts");
  const config = await load(options.config, "upstreams");
  const folder = secretsFolder(config, options.secrets);
  // Started before the first write, so that the next poll sees changes in between.
  const watcher = options.watch === true ? secrets.watchUpstreamSecrets(config, folder, report) : null;
  await secrets.writeUpstreamSecrets(config, folder);
  if (watcher === null) return;
  report({ written: [] });
  // The watcher itself does not keep the process alive.
  const alive = setInterval(() => undefined, 60_000);
  await Promise.race([once(process, "SIGTERM"), once(process, "SIGINT")]);
  clearInterval(alive);
  watcher.close();
}

/** Prints one line of JSON like the sidecar's log. Never contains a secret. */
function report(outcome: { readonly written: readonly string[] } | { readonly problem: unknown }): void {
  const fields =
    "problem" in outcome
      ? {
          level: "error",
          msg: "a credential can't be read, the previous one stays",
          problem: String(outcome.problem),
        }
      : { level: "info", msg: "credentials are written", renewed: outcome.written };
  process.stdout.write(`${JSON.stringify({ ...fields, time: new Date().toISOString() })}\n`);
}

/** Loads the configuration; requires only the upstreams' credentials, and only when writing them. */
async function load(file: string, secrets: "upstreams" | "none"): Promise<Config> {
  const { loadConfig } = await import("../../shared/config/load.ts");
  return loadConfig(file, { secrets });
}

function secretsFolder(config: Config, given: string | undefined): string {
  return given ?? join(config.sidecar.sockets, "secrets");
}
