/** Kinds of settings: the only definitions of allowed values. */
import * as z from "zod";
import { formatTimeOrNull } from "../time/calendar.ts";
import { modelName, NAME_VALUES as MODEL_NAME_VALUES } from "../config/schema/model-names.ts";
import { explainCurrency } from "../config/schema/currencies.ts";
import { MAX_CENTS } from "../money/money.ts";
import { parseTagList, TAG_VALUES } from "../usage/tags.ts";
import {
  flag as flagInput,
  name as nameInput,
  NAME_VALUES,
  tagList,
  whole,
  wholeOrNull,
} from "./input-schemas.ts";
import { LINE_PATTERN } from "./published-patterns.ts";
import type { Kind, Notation } from "./setting.ts";

interface Bounds {
  readonly minimum: number;
  readonly maximum: number;
}

const MAX_ALLOWED_MODELS = 200;
const MAX_MODEL_NAMES = 100;
const MAX_MODEL_NAMES_CHARACTERS = 8_000;
const MAX_ID_CHARACTERS = 256;
const MAX_EMAILS = 20;
const MAX_EMAIL_CHARACTERS = 254;
const GROUP_ID = /^group_[0-9a-f-]{36}$/;
const USER_ID = /^user_[0-9a-f-]{36}$/;

/** One of several words. */
export function choice<const Words extends readonly [string, ...string[]]>(
  words: Words,
): Kind<Words[number]> {
  const listed = words.join(" or ");
  const input = z.enum(words, { error: `expected ${listed}` }) as unknown as z.ZodType<Words[number]>;
  return {
    notation: "choice",
    values: words.map((word) => `\`${word}\``).join(" or "),
    words,
    input,
    output: input,
    stored: input,
    convert: (word) => word,
    describe: (word) => word,
    format: (word) => word,
    parse: (field) => input.parse(field),
  };
}

/** One of several words, or null. */
export function choiceOrNull<const Words extends readonly [string, ...string[]]>(
  words: Words,
): Kind<Words[number] | null> {
  const error = `expected ${words.join(" or ")}, or null`;
  const input = z.enum(words, { error }).nullable() as unknown as z.ZodType<Words[number] | null>;
  return {
    ...plain(input, {
      notation: "choice",
      values: `${words.map((word) => `\`${word}\``).join(" or ")}, or null`,
      input,
      format: (word) => word ?? "",
      parse: (field) => (field === "" ? null : input.parse(field)),
    }),
    words,
  };
}

/** Name for people. */
export function name(): Kind<string> {
  return text(nameInput(), NAME_VALUES);
}

/** Single-line text, or null. */
export function lineOrNull(maximum: number): Kind<string | null> {
  const error = `expected a text of 1 to ${maximum} characters, without control characters, or null for none`;
  const line = z
    .string({ error })
    .min(1, { error })
    .max(maximum, { error })
    .regex(/^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]+$/u, { error })
    .meta({ pattern: LINE_PATTERN });
  return textOrNull({
    notation: "text",
    values: `1 to ${maximum} characters, or null`,
    input: line.nullable(),
  });
}

/** Tags in the form of the clients' header, or null. */
export function tagsOrNull(): Kind<string | null> {
  const input = tagList(`expected ${TAG_VALUES}, or null for none`).nullable();
  return {
    ...textOrNull({ notation: "text", values: `${TAG_VALUES}, or null`, input }),
    convert: (list) => (list === null ? null : orderTags(list)),
  };
}

function orderTags(list: string): string {
  const parsed = parseTagList(list);
  if ("tags" in parsed) return parsed.tags;
  throw new TypeError("these tags were not checked");
}

export function emailOrNull(): Kind<string | null> {
  const error = "expected an email address, or null for none";
  const input = z.string({ error }).max(MAX_EMAIL_CHARACTERS, { error }).pipe(z.email({ error }));
  return textOrNull({ notation: "text", values: "an email address, or null", input: input.nullable() });
}

/** Id of a group, or null. Callers with an organization check that the group exists. */
export function groupIdOrNull(): Kind<string | null> {
  const error = "expected the id of a group of this organization, or null for none";
  const input = z.string({ error }).regex(GROUP_ID, { error }).nullable();
  return textOrNull({ notation: "groupId", values: "a group's id, or null", input });
}

export function userIdOrNull(): Kind<string | null> {
  const error = "expected the id of a user of this organization, or null for none";
  const input = z.string({ error }).regex(USER_ID, { error }).nullable();
  return textOrNull({ notation: "userId", values: "a user's id, or null", input });
}

/** Billing currency. */
export function currency(): Kind<string> {
  const error = "expected an ISO 4217 currency code such as USD";
  const input = z
    .string({ error })
    .max(100, { error })
    .superRefine((code, context) => {
      const message = explainCurrency(code);
      if (message !== null) context.addIssue({ code: "custom", message });
    })
    .meta({ examples: ["USD"] });
  return text(input, "ISO 4217, with a two-digit minor unit");
}

function text(input: z.ZodType<string>, values: string): Kind<string> {
  return plain(z.string(), { notation: "text", values, input, format: String, parse: String });
}

function textOrNull(about: Pick<Kind<string | null>, "notation" | "values" | "input">): Kind<string | null> {
  return plain(z.string().nullable(), {
    ...about,
    format: (value) => value ?? "",
    parse: (field) => (field === "" ? null : field),
  });
}

/** Rate limit in whole requests per minute. */
export function rate({ minimum, maximum }: Bounds): Kind<number> {
  return plain(z.int(), {
    notation: "rate",
    values: formatBounds({ minimum, maximum }),
    input: whole(minimum, maximum),
    format: String,
    parse: parseInteger,
  });
}

/** Rate limit, or null. */
export function rateOrNull(bounds: Bounds): Kind<number | null> {
  return numberOrNull("rate", bounds);
}

/** Integer. */
export function wholeNumber({ minimum, maximum }: Bounds): Kind<number> {
  return { ...rate({ minimum, maximum }), notation: "whole" };
}

/** Integer, or null for no limit. */
export function wholeNumberOrNull(bounds: Bounds): Kind<number | null> {
  return numberOrNull("whole", bounds);
}

/** Cap or budget in whole cents, or null for none. */
export function amountOrNull(): Kind<number | null> {
  return numberOrNull("amount", { minimum: 0, maximum: MAX_CENTS }, "cents");
}

function numberOrNull(notation: Notation, bounds: Bounds, unit = ""): Kind<number | null> {
  return plain(z.int().nullable(), {
    notation,
    values: `${formatBounds(bounds)}${unit === "" ? "" : ` ${unit}`}, or null`,
    input: wholeOrNull(bounds.minimum, bounds.maximum, unit),
    format: formatIntegerOrNull,
    parse: parseIntegerOrNull,
  });
}

export function flag(): Kind<boolean> {
  return plain(z.boolean(), {
    notation: "flag",
    values: "true or false",
    input: flagInput(),
    format: (value) => (value ? "1" : "0"),
    parse: (field) => field === "1",
  });
}

/** Future time, or null for never; Unix milliseconds in records. */
export function timeOrNull(): Kind<number | null, string | null, string | null> {
  const error = "expected an RFC 3339 time in the future such as 2026-12-31T23:59:59Z, or null for none";
  return {
    notation: "time",
    values: "an RFC 3339 time in the future, or null",
    input: z.iso
      .datetime({ offset: true, error })
      .nullable()
      .meta({ examples: ["2026-12-31T23:59:59Z"] }),
    output: z.iso
      .datetime()
      .meta({ examples: ["2026-12-01T00:00:00.000Z"] })
      .nullable(),
    stored: z.int().nullable(),
    format: formatIntegerOrNull,
    parse: parseIntegerOrNull,
    convert: (wanted) => (wanted === null ? null : Date.parse(wanted)),
    describe: formatTimeOrNull,
  };
}

/** Catalog ids, or null for all. Callers with a catalog check that they exist. */
export function modelsOrNull(): Kind<readonly string[] | null> {
  const error = `expected a list of 1 to ${MAX_ALLOWED_MODELS} catalog ids, none twice, or null for all`;
  const output: z.ZodType<readonly string[] | null> = z.array(z.string()).nullable();
  return plain(output, {
    notation: "models",
    values: `1 to ${MAX_ALLOWED_MODELS} catalog ids, or null`,
    input: z
      .array(z.string({ error: "expected a catalog id such as acme/echo-small" }), { error })
      .min(1, { error })
      .max(MAX_ALLOWED_MODELS, { error })
      .refine(hasNoneTwice, { error })
      .nullable(),
    format: (ids) => (ids === null ? "" : JSON.stringify(ids)),
    parse: (field) => (field === "" ? null : output.parse(JSON.parse(field))),
  });
}

/** Catalog id, or null for none. Callers with a catalog check that it exists. */
export function modelOrNull(): Kind<string | null> {
  const error = "expected a catalog id such as acme/echo-small, or null for none";
  const input = z.string({ error }).min(1, { error }).max(MAX_ID_CHARACTERS, { error }).nullable();
  return textOrNull({ notation: "model", values: "a catalog id, or null", input });
}

/**
 * Model aliases: name → catalog id. All of them are passed along with every request, so they are few and
 * short. Callers with a catalog check that it has the ids, and none of the names.
 */
export function modelNames(): Kind<Readonly<Record<string, string>>> {
  const error = `expected an object of at most ${MAX_MODEL_NAMES} names with a catalog id each, ${MAX_MODEL_NAMES_CHARACTERS} characters together`;
  const output: z.ZodType<Readonly<Record<string, string>>> = z.record(z.string(), z.string());
  const isSmall = (names: object): boolean =>
    Object.keys(names).length <= MAX_MODEL_NAMES &&
    JSON.stringify(names).length <= MAX_MODEL_NAMES_CHARACTERS;
  return plain(output, {
    notation: "names",
    values: `an object of at most ${MAX_MODEL_NAMES} names of ${MODEL_NAME_VALUES}, with a catalog id each; ${MAX_MODEL_NAMES_CHARACTERS} characters together`,
    input: z
      .record(
        z.string(),
        z.string({ error: "expected a catalog id such as acme/echo-small" }).max(MAX_ID_CHARACTERS),
        { error },
      )
      .refine(isSmall, { error })
      .superRefine((names, context) => {
        for (const name of Object.keys(names)) {
          for (const { message } of modelName().safeParse(name).error?.issues ?? []) {
            context.addIssue({ code: "custom", message, path: [name] });
          }
        }
      })
      .meta({ examples: [{ "claude-haiku-4-5": "acme/echo-small" }] }),
    ...asJson(output),
  });
}

/** Email addresses. */
export function emails(): Kind<readonly string[]> {
  const addressError = "expected an email address";
  const address = z
    .string({ error: addressError })
    .max(MAX_EMAIL_CHARACTERS, { error: addressError })
    .pipe(z.email({ error: addressError }));
  const error = `expected a list of at most ${MAX_EMAILS} email addresses, none twice`;
  const output: z.ZodType<readonly string[]> = z.array(z.string());
  return plain(output, {
    notation: "emails",
    values: `at most ${MAX_EMAILS} email addresses`,
    input: z.array(address, { error }).max(MAX_EMAILS, { error }).refine(hasNoneTwice, { error }),
    ...asJson(output),
  });
}

/** Kind whose value is the same in the API and in storage. */
function plain<Value>(
  value: z.ZodType<Value>,
  about: Pick<Kind<Value>, "notation" | "values" | "input" | "format" | "parse">,
): Kind<Value> {
  return { ...about, output: value, stored: value, convert: (input) => input, describe: (stored) => stored };
}

/** Stores the value as JSON. */
export function asJson<Value>(stored: z.ZodType<Value>): {
  format(value: Value): string;
  parse(field: string): Value;
} {
  return { format: (value) => JSON.stringify(value), parse: (field) => stored.parse(JSON.parse(field)) };
}

function hasNoneTwice(items: readonly string[]): boolean {
  return new Set(items).size === items.length;
}

function formatIntegerOrNull(value: number | null): string {
  return value === null ? "" : String(value);
}

function parseIntegerOrNull(field: string): number | null {
  return field === "" ? null : parseInteger(field);
}

function parseInteger(field: string): number {
  const value = Number(field);
  if (field === "" || !Number.isSafeInteger(value)) throw new TypeError(`"${field}" isn't a whole number`);
  return value;
}

function formatBounds({ minimum, maximum }: Bounds): string {
  return `${formatWhole(minimum)} to ${formatWhole(maximum)}`;
}

/**
 * Formats `1,000,000`. Not with `toLocaleString`, because every process builds this table, and loading
 * locales takes as long.
 */
function formatWhole(value: number): string {
  return String(value).replace(/\B(?=(?:\d{3})+$)/g, ",");
}
