/**
 * Kinds of fields in `gateway.yaml`. Each error text is a complete expectation ("expected a whole number from
 * 0 to 65535"); issues.ts adds the found value. Descriptions, units and defaults are in the schema, from
 * which the reference in docs/gateway-yaml.md is generated.
 */
import { resolve } from "node:path";
import * as z from "zod";
import { formatSuggestion } from "./nearest.ts";
import { Secret, VARIABLE_NAME_FORM, type SecretReference, type SecretSource } from "../secret.ts";

/** Notes on a field for the reference, in addition to its name and description. */
interface FieldNotes {
  /** "bytes", "seconds", "tokens"; omitted without a unit. */
  readonly unit?: string;
  /** Allowed values for people, if the kind does not say it. */
  readonly type?: string;
  /** Default in words, if it depends on other fields. */
  readonly default?: string;
}

/** Returns the schema with its entry in the reference. */
export function described<S extends z.ZodType>(schema: S, description: string, notes: FieldNotes = {}): S {
  return schema.meta({
    description,
    ...(notes.type === undefined ? {} : { "x-type": notes.type }),
    ...(notes.unit === undefined ? {} : { "x-unit": notes.unit }),
    ...(notes.default === undefined ? {} : { "x-default": notes.default }),
  });
}

/** Returns the schema with the reference's text about allowed values. */
export function ofType<S extends z.ZodType>(schema: S, type: string): S {
  return schema.meta({ "x-type": type });
}

/**
 * Mapping with only these fields; the message for an unknown one suggests the nearest. `expectation` is the
 * message for other types, in place of "expected a mapping with …".
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

/** Optional section: every field in it has a default. */
export function section<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  const schema = mapping(shape);
  return schema.prefault({} as z.input<typeof schema>);
}

/** Optional section that is null if omitted. */
export function sectionOrNull<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  return orNull(mapping(shape));
}

/** Optional value that is null if omitted. */
export function orNull<S extends z.ZodType>(schema: S) {
  return schema.optional().transform((value): z.output<S> | null => value ?? null);
}

/** Integer within inclusive bounds. @param unit "bytes", "seconds", "tokens"; omitted without a unit. */
export function integer(minimum: number, maximum: number, unit?: string): z.ZodNumber {
  const error = `expected a whole number from ${minimum} to ${maximum}`;
  const schema = z.int({ error }).min(minimum, { error }).max(maximum, { error });
  const type = `${minimum} to ${maximum}`;
  return schema.meta({ "x-type": type, ...(unit === undefined ? {} : { "x-unit": unit }) });
}

/** Non-empty text of the given form; `expectation` completes "expected …". */
export function text(expectation: string, form: RegExp = /^\S(?:.*\S)?$/): z.ZodString {
  const error = `expected ${expectation}`;
  return ofType(z.string({ error }).max(1024, { error }).regex(form, { error }), "string");
}

/** One of several words. `successors`: maps words that were accepted earlier to their replacements. */
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
        successor === undefined ? formatSuggestion(given, values) : `; \`${successor}\` replaces it`;
      return `expected one of ${quoted.join(", ")}${suggestion === "" ? "" : `\n${suggestion}`}`;
    },
  });
  return ofType(schema, `${quoted.slice(0, -1).join(", ")} or ${quoted.at(-1)}`);
}

export function flag(): z.ZodBoolean {
  return ofType(z.boolean({ error: "expected `true` or `false`" }), "boolean");
}

/** List; `what` names its members in the plural. */
export function list<S extends z.ZodType>(member: S, noun: string, minimum = 0): z.ZodArray<S> {
  const error = `expected a list of ${noun}${minimum === 0 ? "" : `, at least ${minimum}`}`;
  return z.array(member, { error }).min(minimum, { error });
}

/** List of words without duplicates. */
export function choices<const Values extends readonly [string, ...string[]]>(values: Values, noun: string) {
  const schema = list(choice(values), noun).refine((given) => new Set(given).size === given.length, {
    error: `expected a list of ${noun} without repetitions`,
    // Reported together with a wrong member, not only after it is corrected.
    when: ({ value }) => Array.isArray(value),
  });
  return ofType(schema, `list of ${values.map((value) => `\`${value}\``).join(", ")}`);
}

/** Path; a relative one is resolved against the configuration file's directory. */
export function path(source: SecretSource) {
  return ofType(text("a path"), "path").transform((value) => resolve(source.baseDir, value));
}

export function host(): z.ZodString {
  const form = /^(?:[A-Za-z0-9_](?:[A-Za-z0-9._-]*)|[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*)$/;
  return ofType(text("a host name or an IP address", form), "host name or IP address");
}

/** TCP port; 0 picks a free one. */
export function port(): z.ZodNumber {
  return integer(0, 65_535);
}

/** Does not start with "expected", because then the found value would be added, which may be the secret itself. */
export const SECRET_EXPECTATION =
  "a secret is written as `{env: NAME}` or `{file: PATH}`, so that this file never contains it";

/** Same for the name of an environment variable. */
export const VARIABLE_EXPECTATION =
  "`env` takes the name of an environment variable: letters, digits and underscores";

/** Reference to a secret. The found value is never shown: it may be the secret itself. */
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
