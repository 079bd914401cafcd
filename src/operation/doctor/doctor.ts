/**
 * Looks at every part of a running gateway from the outside and says what is wrong, since when where that is known, and
 * what to do. It changes nothing, starts nothing and prints no secret; each part is looked at for a bounded time.
 */
import { ConfigError, formatProblem } from "../../shared/config/config-error.ts";
import { loadConfig } from "../../shared/config/load.ts";
import type { Config } from "../../shared/config/schema.ts";
import { requireInTime } from "../../shared/event-loop/wait.ts";
import { checkConfiguration } from "./check-configuration.ts";
import { checkAnswers } from "./check-answers.ts";
import { checkEnvoy } from "./check-envoy.ts";
import { checkFolders } from "./check-folders.ts";
import { checkDashboardUrl, checkPublicUrl } from "./check-addresses.ts";
import { checkUpstreams } from "./check-network.ts";
import { checkCredentials, checkUpstreamState } from "./check-upstream-state.ts";
import { checkSmtp, checkWebhooks } from "./check-notifications.ts";
import { checkRedis, withRedis } from "./check-redis.ts";
import { checkRunning } from "./check-running.ts";
import { checkServers } from "./check-servers.ts";
import { checkTokenKeys } from "./check-token-keys.ts";
import { checkTemplates } from "./check-templates.ts";
import { checkWorkers } from "./check-workers.ts";
import { type DoctorFinding, found, ok, reasonOf } from "./finding.ts";

const CHECK_BOUND_MS = 20_000;

/**
 * All findings, in the order in which a person should read them. Never rejects.
 * @param toInForce What the running gateway has decided over what the file says.
 * @param isTrusted Who asks has named the file, and it does not merely lie in a folder.
 */
export async function examine(
  configFile: string,
  toInForce: (config: Config) => Config = (config) => config,
  isTrusted = true,
): Promise<DoctorFinding[]> {
  const config = readConfig(configFile);
  if (Array.isArray(config)) return config;
  const inForce = toInForce(config);
  const checks = { ...listChecks(inForce), "upstreams.models": () => checkServers(inForce, { isTrusted }) };
  return [ok("configuration", `${configFile} is valid.`), ...(await runAll(checks))];
}

/**
 * The same for a configuration that is read already, as it is in force, without asking model servers for anything. Never
 * rejects.
 */
export async function examineRunning(config: Config): Promise<DoctorFinding[]> {
  return runAll(listChecks(config));
}

type Checks = Readonly<Record<string, () => Promise<DoctorFinding[]>>>;

function listChecks(config: Config): Checks {
  return {
    gateway: () => checkRunning(config),
    "configuration.running": () => checkConfiguration(config),
    redis: () =>
      withRedis(config, async (client) => [
        ...(await runBounded("redis", () => checkRedis(client))),
        ...(await runBounded("webhooks", () => checkWebhooks(config, client))),
      ]),
    workers: () => checkWorkers(config),
    envoy: () => checkEnvoy(config),
    upstreams: () => checkUpstreams(config),
    jwt: () => checkTokenKeys(config),
    "upstreams.credentials": async () => checkCredentials(config),
    "upstreams.state": () => checkUpstreamState(config),
    "upstreams.answers": () => checkAnswers(config),
    "catalog.prompt_overhead": () => checkTemplates(config),
    folders: () => checkFolders(config),
    smtp: () => checkSmtp(config),
    public_base_url: () => checkPublicUrl(config),
    "dashboard.base_url": () => checkDashboardUrl(config),
  };
}

async function runAll(checks: Checks): Promise<DoctorFinding[]> {
  const all = await Promise.all(Object.entries(checks).map(([name, check]) => runBounded(name, check)));
  return all.flat();
}

/** No problem is among them; warnings may be. */
export function isSound(findings: readonly DoctorFinding[]): boolean {
  return !findings.some(({ level }) => level === "problem");
}

function readConfig(file: string): Config | DoctorFinding[] {
  try {
    return loadConfig(file, { secrets: "own" });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const fix = `Correct ${file}; a running gateway continues with the previous one.`;
    return error.problems.map((one) =>
      found("configuration_invalid", "configuration", { message: formatProblem(one), fix }),
    );
  }
}

async function runBounded(name: string, check: () => Promise<DoctorFinding[]>): Promise<DoctorFinding[]> {
  try {
    return await requireInTime(check(), CHECK_BOUND_MS, `it didn't end in ${CHECK_BOUND_MS / 1000} s`);
  } catch (error) {
    return [found("check_failed", name, { message: `The check failed: ${reasonOf(error)}.` })];
  }
}
