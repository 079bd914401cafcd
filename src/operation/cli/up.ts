import { type Command, InvalidArgumentError } from "commander";
import type { Config } from "../../shared/config/schema.ts";
import { entryFile } from "../../shared/host/package-files.ts";
import { cleanText } from "../../shared/text/plain-text.ts";
import { openScreen } from "./terminal/screen.ts";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { COMPANY_NAME } from "../demo/sample/company.ts";
import type { CallManagement } from "../demo/sample/fill.ts";
import type { StackFacts } from "../launcher/summary.ts";
import { AdminClient } from "./management/admin-client.ts";
import { CommandError } from "./management/command-error.ts";
import { readFolderToken } from "./management/folder-token.ts";
import { parseLimit } from "./management/option-values.ts";

const SAMPLE_KEYS = 24;
const MAX_SAMPLE_KEYS = 10_000;

export function addUpCommand(program: Command): void {
  program
    .command("up")
    .summary("Start the whole stack on this machine.")
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
    .option(
      "--sample-data [keys]",
      `organization ${COMPANY_NAME} with a month of invented use, to see the pages filled; number of API keys, default ${SAMPLE_KEYS}`,
      parseSampleKeys,
    )
    .option("--json", "one JSON line when ready: base_url, admin_url, admin_token, demo_key")
    .action((options: UpCommandOptions) => upAction(options));
}

interface UpCommandOptions extends UpConfigOptions {
  readonly json?: true;
  /** True: the default number of keys. */
  readonly sampleData?: true | number;
}

async function upAction(options: UpCommandOptions): Promise<void> {
  const { launch } = await import("../launcher/launch.ts");
  const { sampleData } = options;
  const keys = sampleData === true ? SAMPLE_KEYS : sampleData;
  const code = await launch({
    configFile: await chooseConfig(options),
    json: options.json === true,
    entry: entryFile(),
    ...(keys === undefined ? {} : { prepare: (config, facts) => fillRunning(config, facts, keys) }),
    afterStart: printProblems,
  });
  process.exit(code);
}

function parseSampleKeys(text: string): number {
  const keys = parseLimit(text);
  if (keys <= MAX_SAMPLE_KEYS) return keys;
  throw new InvalidArgumentError(`expected at most ${MAX_SAMPLE_KEYS} API keys`);
}

async function fillRunning(config: Config, { adminUrl, adminToken }: StackFacts, keys: number) {
  const { fillSampleOf } = await import("../demo/sample/fill-running.ts");
  const client = new AdminClient(adminUrl, adminToken);
  const call: CallManagement = (method, path, input) => client.call(method, path, input);
  const filled = await fillSampleOf(config, { call, keys });
  print(
    filled
      ? `Sample data: organization "${COMPANY_NAME}" with ${keys} API keys.`
      : `Organization "${COMPANY_NAME}" exists: no sample data was added. Delete it to fill it again.`,
  );
}

/** Prints `doctor`'s problems on stderr, one per line. */
async function printProblems(config: Config): Promise<void> {
  const { examineRunning } = await import("../doctor/doctor.ts");
  const problems = (await examineRunning(config)).filter(({ level }) => level === "problem");
  if (problems.length === 0) return;
  const screen = openScreen(process.stderr, { env: process.env });
  const lines = problems.map(({ message, fix }) => {
    return `  ${screen.paint("bad", cleanText(message))}${fix === null ? "" : ` → ${cleanText(fix)}`}\n`;
  });
  process.stderr.write(`Problems found at startup:\n${lines.join("")}\n`);
}

interface UpConfigOptions {
  readonly config?: string;
  readonly upstream?: string;
  readonly upstreamKeyEnv?: string;
}

const FILE = "gateway.yaml";

/**
 * Returns the named file, the one created for `--upstream`, or the `gateway.yaml` of this directory; null for the
 * built-in configuration with the demo model.
 * @throws CommandError if that is not allowed; ConfigError for an invalid file of this directory.
 */
async function chooseConfig(options: UpConfigOptions): Promise<string | null> {
  const { config, upstream, upstreamKeyEnv = null } = options;
  if (upstream !== undefined) {
    const { writeFirstConfig } = await import("../launcher/first-config/write-first-config.ts");
    const file = config ?? FILE;
    await writeFirstConfig({ upstream, keyVariable: upstreamKeyEnv, file, notice: print });
    return file;
  }
  if (upstreamKeyEnv !== null) {
    throw new CommandError("`--upstream-key-env` needs `--upstream`. In a gateway.yaml, set `credential`.");
  }
  if (config !== undefined || !existsSync(FILE)) return config ?? null;
  await requireHarmless(resolve(FILE));
  print(`Starting with ${resolve(FILE)}; the demo model starts in a directory without a ${FILE}.`);
  return FILE;
}

function print(line: string): void {
  process.stderr.write(`${cleanText(line)}\n`);
}

/**
 * A file that just is in the directory may come from anywhere: it gets no secret, and opens no other
 * gateway's data.
 */
async function requireHarmless(file: string): Promise<void> {
  const { loadConfig } = await import("../../shared/config/load.ts");
  const { findSecrets } = await import("../../shared/config/find-secrets.ts");
  const config = loadConfig(file, { secrets: "none" });
  const [secret] = findSecrets(config);
  if (secret !== undefined) throw notTrusted(file, `refers to a secret, ${secret.location}`);
  const token = readFolderToken(join(config.dataDir, "operator-token"), process.cwd());
  if ("problem" in token) throw notTrusted(file, token.problem);
}

function notTrusted(file: string, why: string): CommandError {
  return new CommandError(
    `${file} was found in this directory, but ${why}: nothing was started. If it is yours, run ` +
      `\`up --config ${FILE}\`. The demo model starts in a directory without a ${FILE}.`,
  );
}
