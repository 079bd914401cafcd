/**
 * Schemas of user input, whose error text is a complete expectation ("expected a whole number from 1 to
 * 1000000"). The caller adds the field's name and the found value.
 */
import * as z from "zod";
import { formatSuggestion } from "../config/schema/nearest.ts";
import { parseTagList } from "../usage/tags.ts";
import { NAME_PATTERN } from "./published-patterns.ts";

/** Limit of suggestions, since comparing with every known name takes time. */
const MAX_SUGGESTIONS = 10;

/** Object with only these fields; the message has a line for each unknown field, with the nearest name. */
export function record<Shape extends z.core.$ZodLooseShape>(
  shape: Shape,
): z.ZodObject<Shape, z.core.$strict> {
  const names = Object.keys(shape);
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === "unrecognized_keys"
        ? issue.keys
            .map((key, index) => describeUnknown(key, index < MAX_SUGGESTIONS ? names : []))
            .join("\n")
        : "expected a JSON object",
  });
}

function describeUnknown(key: string, names: readonly string[]): string {
  return `unknown field${formatSuggestion(key, names)}`;
}

/** Integer within inclusive bounds. */
export function whole(minimum: number, maximum: number, unit = "") {
  const error = expectWhole(minimum, maximum, unit);
  return z.int({ error }).min(minimum, { error }).max(maximum, { error });
}

/** Integer within inclusive bounds, or null. */
export function wholeOrNull(minimum: number, maximum: number, unit = "") {
  const error = `${expectWhole(minimum, maximum, unit)}, or null for none`;
  return z.int({ error }).min(minimum, { error }).max(maximum, { error }).nullable();
}

function expectWhole(minimum: number, maximum: number, unit: string): string {
  return `expected a whole number${unit === "" ? "" : ` of ${unit}`} from ${minimum} to ${maximum}`;
}

/** Marks an issue whose text is complete: it includes the found value, or must not show it. */
export const IS_WHOLE = "isWhole";

/** Tags in the notation of `X-Tags`. */
export function tagList(error?: string) {
  return z.string(error === undefined ? {} : { error }).superRefine((list, context) => {
    const parsed = parseTagList(list);
    if (!("problem" in parsed)) return;
    context.addIssue({ code: "custom", message: parsed.problem, params: { [IS_WHOLE]: true } });
  });
}

export function flag() {
  return z.boolean({ error: "expected true or false" });
}

const NAME_EXPECTATION =
  "expected a text of 1 to 100 characters, at least one of which can be seen, without line breaks and control characters";
/**
 * Counted in code points. Zl and Zp are Unicode's line breaks; Cs are lone surrogates; default ignorable
 * characters are invisible (U+200B, U+2060, Hangul's fillers).
 */
const NAME_FORM = /^(?=.*[^\s\p{Default_Ignorable_Code_Point}])[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]{1,100}$/u;

/** Name for people. */
export function name() {
  return z
    .string({ error: NAME_EXPECTATION })
    .regex(NAME_FORM, { error: NAME_EXPECTATION })
    .meta({ pattern: NAME_PATTERN, minLength: 1, maxLength: 100 });
}
/** Same in words, for the documentation. */
export const NAME_VALUES = "1 to 100 characters, not only spaces, without control characters";

/** RFC 3339 time in UTC, in responses. */
export const timestamp = () => z.iso.datetime().meta({ examples: ["2026-12-01T00:00:00.000Z"] });

/** Actor in responses: the operator, an organization's token, or a signed-in person. */
export const actor = () =>
  z.strictObject({
    type: z.enum(["operator", "token", "person"]),
    id: z.string().nullable().describe("Id of the token, or of the person's user."),
    name: z.string().nullable(),
  });
