/**
 * Examines every part of a running gateway from outside and reports problems, since when if known, and fixes.
 * It changes nothing, starts nothing and prints no secret; each check has a timeout.
 */
import { ConfigError, formatProblem } from "../../shared/config/config-error.ts";
import { loadConfig } from "../../shared/config/load.ts";
import type { Config } from "../../shared/config/schema.ts";
import { requireInTime } from "../../shared/event-loop/wait.ts";
import { checkCertificates } from "./check-certificates.ts";
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
 * Returns all findings in reading order. Never rejects.
 * @param toInForce Applies the running gateway's decisions to the file's configuration.
 * @param isTrusted The user named the file, instead of it just being in the directory.
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

/** Examines a running configuration, without requests to model servers. Never rejects. */
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
    certificates: () => checkCertificates(config),
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

/** Returns whether there are no problems, but possibly warnings. */
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
