/**
 * The kinds of fields that `gateway.yaml` has. Each one's error text is a whole expectation ("expected a whole number
 * from 0 to 65535"); issues.ts adds what was found. Descriptions, units and defaults stand in the schema, and the
 * reference in docs/gateway-yaml.md is made of them.
 */
import { resolve } from "node:path";

import * as z from "zod";

import { formatSuggestion } from "./nearest.ts";
import { Secret, VARIABLE_NAME_FORM, type SecretReference, type SecretSource } from "../secret.ts";

/** What the reference says of a field beside its name and what it is. */
interface FieldNotes {
  /** "bytes", "seconds", "tokens"; left out where there is none. */
  readonly unit?: string;
  /** What may be written, for people, where its kind does not say it. */
  readonly type?: string;
  /** The default in words, where it depends on other fields. */
  readonly default?: string;
}

/** The same schema with its entry in the reference. */
export function described<S extends z.ZodType>(schema: S, description: string, notes: FieldNotes = {}): S {
  return schema.meta({
    description,
    ...(notes.type === undefined ? {} : { "x-type": notes.type }),
    ...(notes.unit === undefined ? {} : { "x-unit": notes.unit }),
    ...(notes.default === undefined ? {} : { "x-default": notes.default }),
  });
}

/** The same schema with what the reference says that may be written. */
export function ofType<S extends z.ZodType>(schema: S, type: string): S {
  return schema.meta({ "x-type": type });
}

/**
 * A mapping with these fields and no others; the message of an unknown one names the nearest. `expectation` is said of
 * what is no mapping, in place of "expected a mapping with …".
 */
export function mapping<Shape extends z.core.$ZodLooseShape>(
  shape: Shape,
  expectation?: string,
): z.ZodObject<Shape, z.core.$strict> {
  const names = Object.keys(shape);
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === "unrecognized_keys"
        ? issue.keys.map((key) => `unknown field \`${key}\`${formatSuggestion(key, names)}`).join("\n")
        : (expectation ?? `expected a mapping with ${formatNames(names)}`),
  });
}

function formatNames(names: readonly string[]): string {
  const shown = names.slice(0, 4).map((name) => `\`${name}\``);
  return `${shown.join(", ")}${names.length > shown.length ? ", …" : ""}`;
}

/** A section that may be left out: every field in it has a default. */
export function section<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  const schema = mapping(shape);
  return schema.prefault({} as z.input<typeof schema>);
}

/** One that is null when it is left out. */
export function sectionOrNull<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  return orNull(mapping(shape));
}

/** Null when it is left out. */
export function orNull<S extends z.ZodType>(schema: S) {
  return schema.optional().transform((value): z.output<S> | null => value ?? null);
}

/** A whole number in bounds, both included. @param unit "bytes", "seconds", "tokens"; left out where there is none. */
export function integer(minimum: number, maximum: number, unit?: string): z.ZodNumber {
  const error = `expected a whole number from ${minimum} to ${maximum}`;
  const schema = z.int({ error }).min(minimum, { error }).max(maximum, { error });
  const type = `${minimum} to ${maximum}`;
  return schema.meta({ "x-type": type, ...(unit === undefined ? {} : { "x-unit": unit }) });
}

/** A text that is not empty and has the given form; `expectation` completes "expected …". */
export function text(expectation: string, form: RegExp = /^\S(?:.*\S)?$/): z.ZodString {
  const error = `expected ${expectation}`;
  return ofType(z.string({ error }).max(1024, { error }).regex(form, { error }), "string");
}

/** One of some words. `successors`: for words that were taken once, the one that does what they did. */
export function choice<const Values extends readonly [string, ...string[]]>(
  values: Values,
  successors: Readonly<Record<string, Values[number]>> = {},
) {
  const quoted = values.map((value) => `\`${value}\``);
  const schema = z.enum(values, {
    error: (issue) => {
      const given = typeof issue.input === "string" ? issue.input : "";
      const successor = Object.hasOwn(successors, given) ? successors[given] : undefined;
      const suggestion =
        successor === undefined ? formatSuggestion(given, values) : `; \`${successor}\` has taken its place`;
      return `expected one of ${quoted.join(", ")}${suggestion === "" ? "" : `\n${suggestion}`}`;
    },
  });
  return ofType(schema, `${quoted.slice(0, -1).join(", ")} or ${quoted.at(-1)}`);
}

/** true or false. */
export function flag(): z.ZodBoolean {
  return ofType(z.boolean({ error: "expected `true` or `false`" }), "boolean");
}

/** A list; `what` names its members in the plural. */
export function list<S extends z.ZodType>(member: S, what: string, minimum = 0): z.ZodArray<S> {
  const error = `expected a list of ${what}${minimum === 0 ? "" : `, at least ${minimum}`}`;
  return z.array(member, { error }).min(minimum, { error });
}

/** A list without doubles of some words. */
export function choices<const Values extends readonly [string, ...string[]]>(values: Values, what: string) {
  const schema = list(choice(values), what).refine((given) => new Set(given).size === given.length, {
    error: `expected a list of ${what} that names none twice`,
    // Told together with a wrong member, not only after it is put right.
    when: ({ value }) => Array.isArray(value),
  });
  return ofType(schema, `list of ${values.map((value) => `\`${value}\``).join(", ")}`);
}

/** A path; a relative one is resolved against the configuration file's folder. */
export function path(source: SecretSource) {
  return ofType(text("a path"), "path").transform((value) => resolve(source.baseDir, value));
}

/** A host name or an IP address. */
export function host(): z.ZodString {
  const form = /^(?:[A-Za-z0-9_](?:[A-Za-z0-9._-]*)|[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*)$/;
  return ofType(text("a host name or an IP address", form), "host name or IP address");
}

/** A TCP port; 0 takes a free one. */
export function port(): z.ZodNumber {
  return integer(0, 65_535);
}

/** Does not begin with "expected": what was found would be added, and that may be the secret itself. */
export const SECRET_EXPECTATION =
  "a secret is written as `{env: NAME}` or `{file: PATH}`, so that it never is in this file";

/** The same of the name of a variable. */
export const VARIABLE_EXPECTATION =
  "`env` takes the name of an environment variable: letters, digits and underscores";

/** A reference to a secret. What was found is never shown: it may be the secret itself. */
export function secret(source: SecretSource) {
  return ofType(z.unknown(), "secret").transform((value, context): Secret => {
    const parsed = parseSecretReference(value);
    if ("reference" in parsed) return new Secret(parsed.reference, source);
    context.addIssue({ code: "custom", ...parsed });
    return z.NEVER;
  });
}

type ParsedReference = { reference: SecretReference } | { message: string; path?: string[] };

function parseSecretReference(value: unknown): ParsedReference {
  const refused = { message: SECRET_EXPECTATION };
  if (typeof value !== "object" || value === null || Array.isArray(value)) return refused;
  const entries: [string, unknown][] = Object.entries(value);
  const unknown = entries.find(([key]) => key !== "env" && key !== "file")?.[0];
  if (unknown !== undefined) {
    const message = `unknown field \`${unknown}\`${formatSuggestion(unknown, ["env", "file"])}`;
    return { message, path: [unknown] };
  }
  const [entry] = entries;
  if (entry === undefined || entries.length !== 1) return refused;
  const [key, target] = entry;
  if (typeof target !== "string" || target === "") return refused;
  if (key === "file") return { reference: { file: target } };
  if (VARIABLE_NAME_FORM.test(target)) return { reference: { env: target } };
  return { message: VARIABLE_EXPECTATION };
}
