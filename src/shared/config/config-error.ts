/** Path of a value in `gateway.yaml`: field names and list positions from the top. */
export type FieldPath = readonly (string | number)[];

/** Mistake in a configuration file. */
export interface ConfigProblem {
  /** "catalog[1].prices.USD.input"; empty for the file as a whole. */
  readonly path: string;
  /** Line in the file, from 1; omitted if the file could not be read. */
  readonly line?: number;
  /** Expected and found value. */
  readonly message: string;
}

/** Formats `["catalog", 1, "prices", "USD", "input"]` as "catalog[1].prices.USD.input". */
export function formatPath(path: FieldPath): string {
  return path
    .map((step, index) => (typeof step === "number" ? `[${step}]` : `${index === 0 ? "" : "."}${step}`))
    .join("");
}

/** Thrown with all mistakes of a configuration at once; none of it may be used. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  /** Name of the file, for people. */
  readonly source: string;
  readonly problems: readonly ConfigProblem[];

  constructor(source: string, problems: readonly ConfigProblem[], options: { cause?: unknown } = {}) {
    const count = problems.length === 1 ? "1 problem" : `${problems.length} problems`;
    super([`${source}: ${count}`, ...problems.map((problem) => `  ${formatProblem(problem)}`)].join("\n"), {
      cause: options.cause,
    });
    this.source = source;
    this.problems = problems;
  }
}

/** Formats "line 14: catalog[1].prices.USD.input: expected …". */
export function formatProblem(problem: ConfigProblem): string {
  const line = problem.line === undefined ? "" : `line ${problem.line}: `;
  const path = problem.path === "" ? "" : `${problem.path}: `;
  return `${line}${path}${problem.message}`;
}
