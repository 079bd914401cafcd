/**
 * `inference-gateway up`: runs the whole stack on one host until Ctrl-C. Prints the details for the first
 * request once that request would be served.
 */
import { basename, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { hasChat } from "../../shared/config/has-chat.ts";
import type { Config } from "../../shared/config/schema.ts";
import { resolveOperatorToken } from "../supervisor/secret-file.ts";
import { LaunchError } from "./launch-error.ts";
import { makePlan, type Plan } from "./plan.ts";
import type { ServeReady } from "./serve-process.ts";
import { Stack } from "./stack.ts";
import { type StopRequests, watchStopRequests } from "./stop-request.ts";
import { formatJsonLine, formatSummary, type StackFacts } from "./summary.ts";
import { formatLocalUrl, isLoopbackAddress } from "../../shared/host/local-url.ts";
import { packageFile } from "../../shared/host/package-files.ts";

export interface LaunchOptions {
  /** Null: the built-in configuration with the demo upstream. */
  readonly configFile: string | null;
  /** Prints one JSON line on stdout instead of text. */
  readonly json: boolean;
  /** Program for starting `serve`. */
  readonly entry: string;
  /** Called after the start, before its output; a rejection stops the stack. */
  readonly prepare?: (config: Config, facts: StackFacts) => Promise<void>;
  /** Called after the start and its output; not awaited. */
  readonly afterStart?: (config: Config) => Promise<void>;
}

/** Exit code of an interrupted program. */
const INTERRUPTED = 130;

/**
 * Runs the stack until it is asked to stop; resolves with the exit code: 0 after a normal stop, 1 if a part
 * of the stack ended unexpectedly.
 * @throws LaunchError, SetupError or ConfigError if it cannot start; no process is left running.
 */
export async function launch(options: LaunchOptions): Promise<number> {
  let stack: Stack | null = null;
  const requests = watchStopRequests(() => stack?.reload());
  const interrupt = (): void => {
    stack?.kill();
    process.exit(INTERRUPTED);
  };
  let isUp = false;
  void requests.first.then(() => (isUp ? undefined : interrupt()));
  void requests.second.then(interrupt);
  const plan = await makePlan(options.configFile);
  stack = new Stack(plan, options.entry);
  const facts = await startOrClean(stack, plan, options);
  isUp = true;
  process.stdout.write(`${options.json ? formatJsonLine(facts) : formatSummary(facts)}\n`);
  void options.afterStart?.(plan.config);
  return runUntilStopped(stack, requests);
}

async function startOrClean(stack: Stack, plan: Plan, options: LaunchOptions): Promise<StackFacts> {
  try {
    const facts = describeStack(options, stack, plan, await stack.start());
    await options.prepare?.(plan.config, facts);
    return facts;
  } catch (error) {
    stack.kill();
    await plan.demoUpstream?.close();
    throw error;
  }
}

async function runUntilStopped(stack: Stack, requests: StopRequests): Promise<number> {
  const crash = await Promise.race([stack.waitForCrash(), requests.first.then(() => null)]);
  if (crash === null) {
    process.stderr.write("Stopping after the requests in flight. Ctrl-C again stops at once.\n");
    await stack.stop();
    return 0;
  }
  const { process: ended, how } = crash;
  await stack.stop();
  throw new LaunchError(
    `${ended.name} exited unexpectedly (${how}); everything else was stopped.\n${ended.describeLog()}`,
  );
}

function describeStack(options: LaunchOptions, stack: Stack, plan: Plan, ready: ServeReady): StackFacts {
  const { config, logDir } = plan;
  if (ready.demoKey === null) {
    throw new LaunchError("The gateway created no demo API key. Its log shows why.");
  }
  const adminUrl = ready.adminUrl ?? formatLocalUrl(config.admin.host, config.admin.port);
  return {
    baseUrl: stack.baseUrl,
    adminUrl,
    adminToken: resolveOperatorToken(config),
    demoKey: ready.demoKey,
    model: findChatModel(config),
    logDir,
    dataDir: config.dataDir,
    manageCommand: formatManageCommand({
      cwd: process.cwd(),
      packageFolder: fileURLToPath(packageFile("")),
      entry: options.entry,
      calledAs: process.argv[1] ?? "",
      configFile: options.configFile,
      dataDir: config.dataDir,
      adminUrl,
      isTokenConfigured: config.admin.operatorToken !== null,
    }),
  };
}

/** Returns the first model for the example request. */
function findChatModel({ catalog }: Config): string {
  const model = catalog.find(({ capabilities }) => hasChat(capabilities)) ?? catalog[0];
  return model?.id ?? "";
}

interface ManageCommandInput {
  /** Directory from which the stack was started, and in which the next command will run. */
  readonly cwd: string;
  /** Directory of the program's package.json. */
  readonly packageFolder: string;
  /** Entry file of the program. */
  readonly entry: string;
  /** Name by which it was called: `process.argv[1]`. */
  readonly calledAs: string;
  /** Null: the built-in configuration. */
  readonly configFile: string | null;
  readonly dataDir: string;
  readonly adminUrl: string;
  /** True if the configuration refers to the operator's token, which is then not in the data directory. */
  readonly isTokenConfigured: boolean;
}

/**
 * Formats a command line that lists the organizations of this stack when pasted in the same directory: with
 * the program as it can be called there, and `--config` if the directory does not lead to the stack.
 */
export function formatManageCommand(input: ManageCommandInput): string {
  const { cwd, configFile, dataDir, adminUrl, isTokenConfigured } = input;
  const isFound = dataDir === join(cwd, "data");
  const isTrusted = isLoopbackAddress(new URL(adminUrl).hostname) && !isTokenConfigured;
  const config =
    configFile === null || (isFound && isTrusted) ? "" : ` --config ${quote(resolve(cwd, configFile))}`;
  return `${formatProgram(input)} org list${config}`;
}

/** Formats the program: `npx` works in the package's own directory; an installed program is on PATH. */
function formatProgram({ cwd, packageFolder, entry, calledAs }: ManageCommandInput): string {
  if (resolve(cwd) === resolve(packageFolder)) return "npx inference-gateway";
  return basename(calledAs) === "inference-gateway" ? "inference-gateway" : `node ${quote(entry)}`;
}

function quote(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
