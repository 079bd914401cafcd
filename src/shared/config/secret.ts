import { readFileSync } from "node:fs";
import { resolve } from "node:path";

const REDACTED = "[secret]";

/** Where a secret is kept: an environment variable or a file, never the configuration itself. */
export type SecretReference = { readonly env: string } | { readonly file: string };

/** Form of an environment variable's name. */
export const VARIABLE_NAME_FORM = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** What a secret needs to be found. */
export interface SecretSource {
  /** Relative file references are resolved against it. */
  readonly baseDir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * A secret that is read when it is used, so that a renewed file counts at once. It shows neither its value nor anything
 * derived from it in strings, JSON or `console.log`: only where it is kept.
 */
export class Secret {
  /** "environment variable `X`" or "file /run/secrets/x": for messages to the operator. */
  readonly location: string;
  readonly reference: SecretReference;
  readonly #source: SecretSource;

  constructor(reference: SecretReference, source: SecretSource) {
    this.reference = "env" in reference ? reference : { file: resolve(source.baseDir, reference.file) };
    this.location =
      "env" in this.reference
        ? `environment variable \`${this.reference.env}\``
        : `file ${this.reference.file}`;
    this.#source = source;
    Object.freeze(this.reference);
    Object.freeze(this);
  }

  /**
   * The value; of a file without the line break at its end.
   * @throws Error naming the location when it is not set, empty or cannot be read.
   */
  reveal(): string {
    const problem = this.explainAbsence();
    if (problem !== null) throw new Error(`secret: ${problem}`);
    return this.#read();
  }

  /** Why there is no value, naming the location; null when there is one. */
  explainAbsence(): string | null {
    try {
      return this.#read() === "" ? `${this.location} is not set or empty` : null;
    } catch (error) {
      const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
      return code === "ENOENT"
        ? `${this.location} does not exist`
        : `${this.location} cannot be read (${code})`;
    }
  }

  #read(): string {
    if ("env" in this.reference) return this.#source.env[this.reference.env] ?? "";
    return readFileSync(this.reference.file, "utf8").replace(/\r?\n$/, "");
  }

  toString(): string {
    return REDACTED;
  }

  toJSON(): string {
    return REDACTED;
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return `Secret(${this.location})`;
  }
}
