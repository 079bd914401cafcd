import type { Command } from "commander";
import { entryFile } from "../../shared/host/package-files.ts";
import type { ConfigOverrides } from "../supervisor/config-overrides.ts";
import { parseDigits } from "./management/option-values.ts";

const parseCount = parseDigits(6);

/** Exceeding Kubernetes' 30 s requires a longer `terminationGracePeriodSeconds`. */
const DEFAULT_DRAIN_SECONDS = 30;

interface ServeCommandOptions extends ConfigOverrides {
  readonly config: string;
  readonly drainSeconds: number;
  readonly demo?: true;
}

interface WorkerCommandOptions {
  readonly index: number;
  readonly address: string;
}

/** `serve`, and the processes that it starts: `worker` and `admin`. */
export function addServeCommands(program: Command): void {
  const serve = program
    .command("serve")
    .summary("Run only the sidecar, as in a container.")
    .description(
      "Run only the sidecar: gRPC workers for Envoy, management API, dashboard, alert delivery. SIGTERM lets streams in flight finish; SIGHUP reads the catalog again.",
    )
    .requiredOption("--config <file>", "gateway.yaml")
    .option(
      "--drain-seconds <n>",
      "seconds that streams may continue after SIGTERM",
      parseCount,
      DEFAULT_DRAIN_SECONDS,
    )
    .action((options: ServeCommandOptions) => serveAction(options));
  addOverrideOptions(serve);
  serve.addOption(hidden(serve, "--demo", "demo organization and API key, created at the start"));
  program
    .command("worker", { hidden: true })
    // Only informs people who list processes. The supervisor sends the contents.
    .requiredOption("--config <file>")
    .requiredOption("--index <n>", "", parseCount)
    .requiredOption("--address <address>")
    .action((options: WorkerCommandOptions) => workerAction(options));
  program
    .command("admin", { hidden: true })
    .requiredOption("--config <file>")
    .action(() => adminAction());
}

function addOverrideOptions(command: Command): void {
  command.addOption(hidden(command, "--sockets <dir>", "directory of the Unix sockets"));
  command.addOption(hidden(command, "--private-redis <socket>", "Unix socket of the launcher's Redis"));
  const port = hidden(command, "--listen-port <port>", "free port found for `listen.port: 0`");
  command.addOption(port.argParser(parseCount));
}

function hidden(command: Command, flags: string, description: string) {
  return command.createOption(flags, description).hideHelp();
}

async function serveAction(options: ServeCommandOptions): Promise<void> {
  const { startSupervisorServices } = await import("../processes/host-services.ts");
  const { runServe } = await import("../supervisor/run-serve.ts");
  const { createLogger } = await import("../../shared/telemetry/logger.ts");
  const { logProcessWarnings } = await import("../../shared/telemetry/process-warnings.ts");
  const { loadConfig } = await import("../../shared/config/load.ts");
  const log = createLogger("supervisor");
  logProcessWarnings(log);
  await runServe({
    configFile: options.config,
    // The sidecar neither needs nor reads the upstreams' credentials, which are Envoy's.
    loadConfig: () => loadConfig(options.config, { secrets: "own" }),
    overrides: options,
    entry: { modulePath: entryFile(), args: ["--config", options.config] },
    startServices: startSupervisorServices,
    demo: options.demo === true,
    drainBoundMs: options.drainSeconds * 1000,
    log,
  });
}

async function workerAction(options: WorkerCommandOptions): Promise<void> {
  const { startWorker } = await import("../processes/worker.ts");
  const { runWorker } = await import("../supervisor/run-child.ts");
  const { index, address } = options;
  await runWorker({ index, address, start: startWorker });
}

async function adminAction(): Promise<void> {
  const { startAdminApi } = await import("../processes/admin-api.ts");
  const { runAdmin } = await import("../supervisor/run-child.ts");
  await runAdmin({ start: startAdminApi });
}
