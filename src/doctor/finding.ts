/** What one look at one part of the gateway found. */
export interface Finding {
  /** Name of the check: "redis.persistence". */
  readonly check: string;
  /** `problem`: requests fail or spend can be lost. `warning`: they will, or may. */
  readonly level: "ok" | "warning" | "problem";
  /** What is so, in a sentence. */
  readonly what: string;
  /** RFC 3339, where it is known. */
  readonly since: string | null;
  /** What to do; null when all is well. */
  readonly todo: string | null;
}

export function ok(check: string, what: string): Finding {
  return { check, level: "ok", what, since: null, todo: null };
}

export function problem(check: string, what: string, todo: string, since: Date | null = null): Finding {
  return { check, level: "problem", what, since: since?.toISOString() ?? null, todo };
}

export function warning(check: string, what: string, todo: string, since: Date | null = null): Finding {
  return { check, level: "warning", what, since: since?.toISOString() ?? null, todo };
}

/** "ECONNREFUSED" where a system call says so, else the error's own words. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code } = error as NodeJS.ErrnoException;
  if (error instanceof AggregateError && error.message === "") return reasonOf(error.errors[0]);
  return error.message === "" ? (code ?? error.name) : error.message;
}
