import { readFileSync } from "node:fs";
import { ConfigError } from "../../shared/config/config-error.ts";
import { loadConfig } from "../../shared/config/load.ts";
import type { Config } from "../../shared/config/schema.ts";
import { describeUnprovenEnvoy, PROVEN_ENVOYS } from "../../shared/contract/proven-versions.ts";
import { checkBootstrap } from "../../envoy/check-bootstrap/check-bootstrap.ts";
import { type BootstrapFinding, formatFinding } from "../../envoy/check-bootstrap/finding.ts";
import { type Validation, validateWithEnvoy } from "../../envoy/check-bootstrap/validate-with-envoy.ts";
import { configCheck, type ConfigCheckOptions } from "./config-check.ts";
import { cleanScreen, escapeHidden } from "../../shared/text/plain-text.ts";
import { openScreen } from "./terminal/screen.ts";

/** An Envoy program for its own validation. Version: "1.40.0", null if it reports none. */
export interface InstalledEnvoy {
  readonly path: string;
  readonly version: string | null;
}

export interface ConfigCheckEnvoyOptions extends ConfigCheckOptions {
  readonly envoyFile: string;
  /** Null: not installed, or not to be used. */
  readonly envoy: InstalledEnvoy | null;
}

/**
 * `inference-gateway config check --envoy`: checks the configuration first, then prints everything in the
 * bootstrap that breaks a promise of the gateway (stderr), or `ok` (stdout). Resolves to the exit code, 0 or
 * 1.
 */
export async function configCheckEnvoy(options: ConfigCheckEnvoyOptions): Promise<number> {
  const config = readConfig(options);
  if (config === null) return configCheck(options);
  const bootstrap = readBootstrap(options.envoyFile);
  const findings = typeof bootstrap === "string" ? checkBootstrap(bootstrap, config) : [bootstrap];
  const validation =
    options.envoy === null || typeof bootstrap !== "string"
      ? null
      : await validateWithEnvoy(options.envoy.path, options.envoyFile);
  return report(options, findings, validation);
}

/** Returns null if it has problems, which `config check` prints. */
function readConfig(options: ConfigCheckEnvoyOptions): Config | null {
  try {
    return loadConfig(options.file, options);
  } catch (error) {
    if (error instanceof ConfigError) return null;
    throw error;
  }
}

function readBootstrap(file: string): string | BootstrapFinding {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const message = `the file can't be read: ${reason}.`;
    return { check: "file", level: "problem", path: "", message, fix: "Pass the path of a bootstrap." };
  }
}

function report(
  options: ConfigCheckEnvoyOptions,
  findings: readonly BootstrapFinding[],
  validation: Validation | null,
): number {
  const { envoyFile, envoy, stdout, stderr, json = false, env = process.env } = options;
  const problems = findings.filter((finding) => finding.level === "problem");
  const ok = problems.length === 0 && validation?.outcome !== "refused";
  if (json) {
    const versions = { envoy_version: envoy?.version ?? null, proven_envoy_versions: PROVEN_ENVOYS };
    const report = { ok, file: options.file, envoy: envoyFile, ...versions };
    const result = { ...report, findings: findings.map(formatJson), validation };
    stdout.write(`${escapeHidden(JSON.stringify(result))}\n`);
    return ok ? 0 : 1;
  }
  const count = problems.length === 1 ? "1 problem" : `${problems.length} problems`;
  const screen = openScreen(stderr, { env });
  const heading = problems.length === 0 ? [] : [screen.paint("bad", `${envoyFile}: ${count}`)];
  const lines = [...heading, ...findings.map((finding) => `  ${formatFinding(finding)}`)];
  if (validation?.outcome === "refused") {
    lines.push(`${screen.paint("bad", `Envoy rejects ${envoyFile}`)}: ${validation.message}`);
  }
  const unproven = envoy?.version ? describeUnprovenEnvoy(envoy.version) : null;
  if (unproven !== null) lines.push(`${screen.paint("warning", "warning")}: ${unproven}`);
  if (lines.length > 0) stderr.write(cleanScreen(`${lines.join("\n")}\n`));
  const mark = openScreen(stdout, { env }).paint("good", "ok");
  if (ok) {
    stdout.write(`${mark}: ${envoyFile} fits ${options.file}; ${describeValidation(validation, envoy)}\n`);
  }
  return ok ? 0 : 1;
}

/** Formats for programs. */
function formatJson({ check, level, path, line, message, fix }: BootstrapFinding): object {
  return { check, severity: level, path, line, message, fix };
}

function describeValidation(validation: Validation | null, envoy: InstalledEnvoy | null): string {
  if (validation === null) return "not validated by Envoy; for this, set ENVOY_BIN and omit --no-validate";
  return `Envoy accepts it (version ${envoy?.version ?? "unknown"}; tested with ${PROVEN_ENVOYS.join(" and ")})`;
}
