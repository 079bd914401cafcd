import { readFileSync } from "node:fs";
import { resolve } from "node:path";

const REDACTED = "[secret]";

/** Location of a secret: an environment variable or a file, never the configuration itself. */
export type SecretReference = { readonly env: string } | { readonly file: string };

/** Form of an environment variable's name. */
export const VARIABLE_NAME_FORM = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Inputs for finding secrets. */
export interface SecretSource {
  /** Directory against which relative file references are resolved. */
  readonly baseDir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * Secret that is read when it is used, so that a renewed file takes effect at once. Strings, JSON and
 * `console.log` show only its location, never its value or anything derived from it.
 */
export class Secret {
  /** "environment variable `X`" or "file /run/secrets/x", for messages to the operator. */
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
   * Reads the value; without the final line break of a file.
   * @throws Error naming the location if it is not set, empty or unreadable.
   */
  reveal(): string {
    const problem = this.explainAbsence();
    if (problem !== null) throw new Error(`secret: ${problem}`);
    return this.#read();
  }

  /** Returns why there is no value, naming the location; null if there is one. */
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
