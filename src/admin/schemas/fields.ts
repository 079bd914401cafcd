/**
 * The kinds of fields of the management API. Each one's error text is a whole expectation ("expected a whole number
 * from 1 to 1000000"); check-input.ts adds the field's name and what was found. The OpenAPI document is made of the
 * same schemas.
 */
import { z } from "zod";
import { formatSuggestion } from "../../config/nearest.ts";
import { MAX_CENTS } from "../../money.ts";

/** Schemas that the OpenAPI document names. */
export const namedSchemas = z.registry<{ id: string }>();

/** The schema under a name of its own in the OpenAPI document. */
export function named<Schema extends z.ZodType>(id: string, schema: Schema): Schema {
  namedSchemas.add(schema, { id });
  return schema;
}

/** An object with these fields and no others; the message of an unknown one names the nearest. */
export function record<Shape extends z.core.$ZodLooseShape>(
  shape: Shape,
): z.ZodObject<Shape, z.core.$strict> {
  const names = Object.keys(shape);
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === "unrecognized_keys"
        ? issue.keys.map((key) => `there is no such field${formatSuggestion(key, names)}`).join("\n")
        : "expected a JSON object",
  });
}

/** A whole number in bounds, both included. */
export function whole(minimum: number, maximum: number, unit = "") {
  const error = `expected a whole number${unit === "" ? "" : ` of ${unit}`} from ${minimum} to ${maximum}`;
  return z.int({ error }).min(minimum, { error }).max(maximum, { error });
}

/** A whole number in bounds, or null for none. */
export function wholeOrNull(minimum: number, maximum: number, unit = "") {
  const error = `expected a whole number${unit === "" ? "" : ` of ${unit}`} from ${minimum} to ${maximum}, or null for none`;
  return z.int({ error }).min(minimum, { error }).max(maximum, { error }).nullable();
}

/** A cap or a budget. */
export function amountOrNull(description: string) {
  return wholeOrNull(0, MAX_CENTS, "cents").meta({ description });
}

export function flag(description: string) {
  return z.boolean({ error: "expected true or false" }).meta({ description });
}

/** One of some words. */
export function choice<const Values extends readonly [string, ...string[]]>(values: Values) {
  const listed = values.map((value) => `"${value}"`).join(" or ");
  return z.enum(values, {
    error: (issue) =>
      `expected ${listed}${typeof issue.input === "string" ? formatSuggestion(issue.input, values) : ""}`,
  });
}

const NAME_EXPECTATION = "expected a text of 1 to 100 characters, without line breaks and control characters";
/** Counted in code points. Zl and Zp are the line breaks of Unicode; Cs are halves of characters. */
const NAME_FORM = /^(?=.*\S)[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]{1,100}$/u;

/** What people call something. */
export function name() {
  return z
    .string({ error: NAME_EXPECTATION })
    .regex(NAME_FORM, { error: NAME_EXPECTATION })
    .meta({ description: "1 to 100 characters, without control characters." });
}

/** A text of at most so many characters, without control characters. */
export function text(maximum: number) {
  const error = `expected a text of 1 to ${maximum} characters, without control characters`;
  return z
    .string({ error })
    .min(1, { error })
    .max(maximum, { error })
    .regex(/^(?=.*\S)[^\p{Cc}\p{Cs}]+$/u, { error });
}

/** In answers: an RFC 3339 time in UTC. */
export const timestamp = () => z.iso.datetime().meta({ examples: ["2026-12-01T00:00:00.000Z"] });
export const count = () => z.int().min(0);
export const month = () =>
  z.string().meta({ description: "UTC calendar month.", pattern: "^\\d{4}-\\d{2}$", examples: ["2026-11"] });
