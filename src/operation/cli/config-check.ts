import { ConfigError, formatProblem } from "../../shared/config/config-error.ts";
import { loadConfig, type LoadOptions } from "../../shared/config/load.ts";
import type { Config } from "../../shared/config/schema.ts";
import { checkCertificates } from "../doctor/check-certificates.ts";
import { cleanScreen, escapeHidden } from "../../shared/text/plain-text.ts";
import { openScreen, type OutputStream, type Screen } from "./terminal/screen.ts";

/** Output of a command, such as `process.stdout`. */
export interface TextOutput extends OutputStream {
  write(text: string): unknown;
}

export interface ConfigCheckOptions extends LoadOptions {
  readonly file: string;
  readonly stdout: TextOutput;
  readonly stderr: TextOutput;
  /** Prints one JSON object on stdout instead of text. */
  readonly json?: boolean;
}

/**
 * `inference-gateway config check`: prints all problems of a configuration file (stderr), or `ok` and a
 * summary (stdout). Resolves to the exit code, 0 or 1.
 */
export async function configCheck(options: ConfigCheckOptions): Promise<number> {
  const { file, stdout, stderr, json = false, env = process.env } = options;
  try {
    const config = loadConfig(file, options);
    const problems = (await checkCertificates(config)).filter(({ level }) => level === "problem");
    if (problems.length > 0) {
      throw new ConfigError(
        file,
        problems.map(({ message }) => ({ path: "", message })),
      );
    }
    stdout.write(
      json
        ? formatJson({ ok: true, file, ...summarize(config) })
        : cleanScreen(formatSummary(openScreen(stdout, { env }), file, config)),
    );
    return 0;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    if (json) stdout.write(formatJson({ ok: false, file, problems: error.problems }));
    else stderr.write(cleanScreen(formatProblems(openScreen(stderr, { env }), file, error)));
    return 1;
  }
}

interface Summary {
  readonly models: readonly string[];
  readonly upstreams: readonly string[];
  /** Number of models with a price, by currency. */
  readonly currencies: Readonly<Record<string, number>>;
}

function summarize(config: Config): Summary {
  const currencies: Record<string, number> = {};
  for (const model of config.catalog) {
    for (const currency of Object.keys(model.prices)) {
      currencies[currency] = (currencies[currency] ?? 0) + 1;
    }
  }
  return {
    models: config.catalog.map((model) => model.id),
    upstreams: config.upstreams.map((upstream) => upstream.name),
    currencies,
  };
}

function formatSummary(screen: Screen, file: string, config: Config): string {
  const { models, upstreams, currencies } = summarize(config);
  const priced = Object.entries(currencies).map(([currency, count]) =>
    count === models.length ? currency : `${currency} (${count} of ${models.length} models)`,
  );
  const rows = [
    `${screen.paint("good", "ok")}: ${file}`,
    `  models: ${models.join(", ")}`,
    `  upstreams: ${upstreams.join(", ")}`,
    `  currencies: ${priced.join(", ")}`,
  ];
  return `${rows.join("\n")}\n`;
}

function formatProblems(screen: Screen, file: string, error: ConfigError): string {
  const lines = error.problems.map((problem) => `  ${formatProblem(problem)}`);
  const count = lines.length === 1 ? "1 problem" : `${lines.length} problems`;
  return `${screen.paint("bad", `${file}: ${count}`)}\n${lines.join("\n")}\n`;
}

function formatJson(value: unknown): string {
  return `${escapeHidden(JSON.stringify(value))}\n`;
}
