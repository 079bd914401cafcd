import type { Command } from "commander";
import { resolve } from "node:path";
import type { Config } from "../../shared/config/schema.ts";
import type { DoctorFinding } from "../doctor/finding.ts";
import { cleanText, escapeHidden } from "../../shared/text/plain-text.ts";
import { CommandError } from "./management/command-error.ts";
import { requireHarmlessFolder } from "./management/config-connection.ts";
import { type Level, openScreen, type Screen } from "./terminal/screen.ts";

const MARKS = { ok: "ok     ", skipped: "skipped", warning: "WARNING", problem: "PROBLEM" } as const;
const COLOURS: Readonly<Record<DoctorFinding["level"], Level>> = {
  ok: "good",
  skipped: "quiet",
  warning: "warning",
  problem: "bad",
};

/** `doctor`: reports problems of the gateway on this host. */
export function addDoctorCommand(program: Command): void {
  program
    .command("doctor")
    .summary("Find out what is wrong, since when, and what to do.")
    .description(
      "Check configuration, Redis, workers, Envoy, upstreams, directories, email, webhooks and clocks of the gateway on this host. Changes nothing. Exit code 1 if there is a problem, 0 with warnings only.",
    )
    .option(
      "--config <file>",
      "gateway.yaml; default: the one of the gateway that runs, or last ran, from this directory",
    )
    .option("--json", "one JSON object on stdout")
    .action((options: { config?: string; json?: true }) => doctorAction(options));
}

async function doctorAction(options: { config?: string; json?: true }): Promise<void> {
  const { examine, isSound } = await import("../doctor/doctor.ts");
  const { applyOverrides } = await import("../supervisor/config-overrides.ts");
  const { readRunningGateway } = await import("../supervisor/running-gateway.ts");
  const file = options.config ?? (await requireLocalConfig());
  const toInForce = (config: Config): Config => {
    const running = readRunningGateway(config.dataDir);
    return running?.configFile === resolve(file) ? applyOverrides(config, running.overrides) : config;
  };
  const findings = await examine(file, toInForce, options.config !== undefined);
  const ok = isSound(findings);
  process.stdout.write(
    options.json === true
      ? `${escapeHidden(JSON.stringify({ ok, findings: findings.map(formatJson) }))}\n`
      : formatFindings(openScreen(process.stdout, { env: process.env }), findings),
  );
  process.exitCode = ok ? 0 : 1;
}

/** @throws CommandError */
async function requireLocalConfig(): Promise<string> {
  const file = await requireHarmlessFolder();
  if (file !== null) return file;
  throw new CommandError("No gateway runs from this directory, and it has no gateway.yaml. Pass --config.");
}

/** Formats problems first. */
function formatFindings(screen: Screen, findings: readonly DoctorFinding[]): string {
  const of = (level: DoctorFinding["level"]) => findings.filter((finding) => finding.level === level);
  const ordered = [...of("problem"), ...of("warning"), ...of("ok"), ...of("skipped")];
  const count = (level: DoctorFinding["level"], word: string): string => {
    const { length } = of(level);
    return screen.paint(length === 0 ? null : COLOURS[level], `${length} ${word}${length === 1 ? "" : "s"}`);
  };
  const summary = `${count("problem", "problem")}, ${count("warning", "warning")}, ${of("ok").length} in order, ${of("skipped").length} skipped`;
  return `${ordered.map((finding) => formatFinding(screen, finding)).join("\n")}\n\n${summary}\n`;
}

/** Formats for programs. */
function formatJson({ check, level, code, message, since, fix }: DoctorFinding): object {
  return { check, level, code, what: message, since, todo: fix };
}

function formatFinding(screen: Screen, { check, level, message, since, fix }: DoctorFinding): string {
  const lines = [`${screen.paint(COLOURS[level], MARKS[level])}  ${check}: ${cleanText(message)}`];
  if (since !== null) lines.push(screen.paint("quiet", `         since ${since}`));
  if (fix !== null) lines.push(`         → ${cleanText(fix)}`);
  return lines.join("\n");
}
