/**
 * What people may send: schemas whose error text is a whole expectation ("expected a whole number from 1 to 1000000").
 * Whoever checks with them adds the field's name and what was found.
 */
import * as z from "zod";
import { formatSuggestion } from "../config/schema/nearest.ts";
import { parseTagList } from "../usage/tags.ts";
import { NAME_PATTERN } from "./published-patterns.ts";

/** Comparing with every known name takes time: further unknown fields of an object get no suggestion. */
const MAX_SUGGESTIONS = 10;

/** An object with these fields and no others; the message has a line for each unknown field, with the nearest name. */
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

/** A whole number in bounds, both included. */
export function whole(minimum: number, maximum: number, unit = "") {
  const error = expectWhole(minimum, maximum, unit);
  return z.int({ error }).min(minimum, { error }).max(maximum, { error });
}

/** A whole number in bounds, or null for none. */
export function wholeOrNull(minimum: number, maximum: number, unit = "") {
  const error = `${expectWhole(minimum, maximum, unit)}, or null for none`;
  return z.int({ error }).min(minimum, { error }).max(maximum, { error }).nullable();
}

function expectWhole(minimum: number, maximum: number, unit: string): string {
  return `expected a whole number${unit === "" ? "" : ` of ${unit}`} from ${minimum} to ${maximum}`;
}

/** Of an issue whose text is whole: what was found is in it, or is nobody's to read. */
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
 * Counted in code points. Zl and Zp are the line breaks of Unicode; Cs are halves of characters; what is default
 * ignorable has no form (U+200B, U+2060, Hangul's fillers).
 */
const NAME_FORM = /^(?=.*[^\s\p{Default_Ignorable_Code_Point}])[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]{1,100}$/u;

/** What people call something. */
export function name() {
  return z
    .string({ error: NAME_EXPECTATION })
    .regex(NAME_FORM, { error: NAME_EXPECTATION })
    .meta({ pattern: NAME_PATTERN, minLength: 1, maxLength: 100 });
}
/** How the documents say it. */
export const NAME_VALUES = "1 to 100 characters, not only spaces, without control characters";

/** In answers: an RFC 3339 time in UTC. */
export const timestamp = () => z.iso.datetime().meta({ examples: ["2026-12-01T00:00:00.000Z"] });

/** In answers: who did something: the operator, an organization's token, or somebody who has signed in. */
export const actor = () =>
  z.strictObject({
    type: z.enum(["operator", "token", "person"]),
    id: z.string().nullable().describe("Of the token, or of the user that the person is."),
    name: z.string().nullable(),
  });
