/**
 * Fields of the management API beside settings; check-input.ts adds the field's name and what was found to their error
 * texts. The OpenAPI document is made of the same schemas.
 */
import { z } from "zod";
import { formatSuggestion } from "../../config/schema/nearest.ts";

/** Schemas that the OpenAPI document names. */
export const namedSchemas = z.registry<{ id: string }>();

/** The schema under a name of its own in the OpenAPI document. */
export function named<Schema extends z.ZodType>(id: string, schema: Schema): Schema {
  namedSchemas.add(schema, { id });
  return schema;
}

/** One of some words. */
export function choice<const Values extends readonly [string, ...string[]]>(values: Values) {
  const listed = values.map((value) => `"${value}"`).join(" or ");
  return z.enum(values, {
    error: (issue) =>
      `expected ${listed}${typeof issue.input === "string" ? formatSuggestion(issue.input, values) : ""}`,
  });
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

export const count = () => z.int().min(0);
export const month = () =>
  z.string().meta({ description: "UTC calendar month.", pattern: "^\\d{4}-\\d{2}$", examples: ["2026-11"] });
