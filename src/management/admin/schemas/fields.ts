/**
 * Fields of the management API besides settings; check-input.ts adds the field's name and the found value to
 * their error texts. The OpenAPI document uses the same schemas.
 */
import * as z from "zod";
import { DAY_MS } from "../../../shared/time/calendar.ts";
import { formatSuggestion } from "../../../shared/config/schema/nearest.ts";
import { record, tagList, timestamp } from "../../../shared/settings/input-schemas.ts";
import { refuseConflict } from "../../../shared/settings/month-limits.ts";
import { TEXT_PATTERN } from "../../../shared/settings/published-patterns.ts";

/** Schemas with a name in the OpenAPI document. */
export const namedSchemas = z.registry<{ id: string }>();

/** Gives a schema a name in the OpenAPI document. */
export function named<Schema extends z.ZodType>(id: string, schema: Schema): Schema {
  namedSchemas.add(schema, { id });
  return schema;
}

/** Named object in API responses. */
export function answer<Shape extends z.core.$ZodLooseShape>(id: string, shape: Shape) {
  return named(id, z.strictObject(shape));
}

/** Named object in API requests. */
export function input<Shape extends z.core.$ZodLooseShape>(id: string, shape: Shape) {
  return named(id, record(shape).superRefine(refuseConflict));
}

/** Sum of microcents, possibly beyond 2^53: an exact integer in JSON. */
export function microcents() {
  return z.coerce.bigint();
}

/** One of several words. */
export function choice<const Values extends readonly string[]>(values: Values) {
  const listed = values.map((value) => `"${value}"`).join(" or ");
  return z.enum(values, {
    error: (issue) =>
      `expected ${listed}${typeof issue.input === "string" ? formatSuggestion(issue.input, values) : ""}`,
  });
}

/** Text of at most this many characters, without control characters. */
export function text(maximum: number) {
  const error = `expected a text of 1 to ${maximum} characters, without control characters`;
  return z
    .string({ error })
    .min(1, { error })
    .max(maximum, { error })
    .regex(/^(?=.*\S)[^\p{Cc}\p{Cs}]+$/u, { error })
    .meta({ pattern: TEXT_PATTERN });
}

const MOMENT_EXPECTATION = "expected a day such as 2026-11-21 or a time such as 2026-11-21T14:03:00Z";
const MOMENT = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2}))?$/;
const DAY_TEXT = /^\d{4}-\d{2}-\d{2}$/;
/** UTC day or RFC 3339 time since 1970, as Unix milliseconds. @param edge Which end of a day is meant. */
export function moment(edge: "start" | "end") {
  return z
    .string({ error: MOMENT_EXPECTATION })
    .refine((text) => MOMENT.test(text) && Date.parse(text) >= 0, { error: MOMENT_EXPECTATION })
    .transform((text) => Date.parse(text) + (edge === "end" && DAY_TEXT.test(text) ? DAY_MS : 0))
    .meta({ examples: ["2026-11-21", "2026-11-21T14:03:00Z"] });
}

export const tagFilter = () =>
  tagList()
    .optional()
    .meta({ description: "With all of these tags.", examples: ["team=search,feature=autocomplete"] });

/** First day of a limit's window. */
export const windowStart = () =>
  z
    .string()
    .meta({ pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}$", examples: ["2026-11-23"] })
    .nullable()
    .describe("First day (UTC) of the window; null: all time.");

/** Text or null, in responses. */
export const textOrNull = (about: string, ...examples: string[]) =>
  z
    .string()
    .nullable()
    .meta({ description: about, ...(examples.length === 0 ? {} : { examples }) });

export const count = () => z.int().min(0);

export const lastUsedAt = () =>
  timestamp().nullable().describe("Time of the last admitted request, token counts excluded; null: never.");

export const month = () =>
  z
    .string()
    .meta({ description: "UTC calendar month.", pattern: "^[0-9]{4}-[0-9]{2}$", examples: ["2026-11"] });

export const errorBody = answer("Error", {
  error: z.strictObject({
    message: z.string(),
    type: z.string(),
    code: z.string(),
    param: textOrNull("Field that the error is about; null: none."),
    request_id: z.string().nullable(),
    doc_url: z.string().describe("Its entry in the error reference: what it means and what to do."),
  }),
});
