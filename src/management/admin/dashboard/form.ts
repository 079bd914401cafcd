/**
 * From a form's texts to the JSON of the management API, and from the API's error to texts beside the fields. What a
 * value may be is decided by the API's schemas alone; here only the notation changes.
 */
import { parseCents } from "../../../shared/money/money.ts";
import { type Limit, parseLimitList } from "../../../shared/settings/limits.ts";
import { parsePairs } from "../../../shared/settings/parse-pairs.ts";
import type { Notation } from "../../../shared/settings/setting.ts";
import { AdminError } from "../admin-error.ts";

/**
 * What a field is: the notation of a setting, or `line`, a text whose empty one is null, or `default`, a whole number whose
 * empty one is left to the API, as that of `someLimits` is. An empty number, amount, time, model and webhook is null; emails are one a line, names lines
 * of `name = value`; a webhook is an object with its URL, from `<name>.url`; models are every checkbox of that name, null
 * when `<name>.all` is set.
 */
export type FieldKind =
  | Exclude<Notation, "group" | "webhooks" | "raises">
  | "line"
  | "default"
  | "someLimits";
export type Fields = Readonly<Record<string, FieldKind>>;

/** Field → what is wrong with it; "" for what belongs to none. */
export type Problems = ReadonlyMap<string, string>;
export const NO_PROBLEMS: Problems = new Map();

/** The values of a form, as a browser sends it. */
export class FormValues extends URLSearchParams {
  /** "" where it was not sent. */
  text(name: string): string {
    return (this.get(name) ?? "").trim();
  }
}

/**
 * The body of an API call; "notifications.emails" becomes a member of `notifications`.
 * @throws AdminError 400 for an amount that is neither "50" nor "50.00".
 */
export function readBody(form: FormValues, fields: Fields): Record<string, unknown> {
  const body: Record<string, unknown> = {};
  const problems: string[] = [];
  for (const [path, kind] of Object.entries(fields)) {
    const value = readField(form, path, kind);
    if (value === INVALID_AMOUNT) {
      problems.push(`\`${path}\`: expected an amount such as 50 or 50.00, or nothing for none`);
    } else if (value !== undefined) setAt(body, path, value);
  }
  if (problems.length > 0) throw new AdminError("invalid_parameter", { message: problems.join("; ") });
  return body;
}

const INVALID_AMOUNT = Symbol("invalid amount");

function readField(form: FormValues, path: string, kind: FieldKind): unknown {
  const text = form.text(path);
  switch (kind) {
    case "text":
      return text;
    case "choice":
      // A form that does not ask leaves it to the API.
      if (!form.has(path)) return undefined;
      return text === "" ? null : text;
    case "line":
    case "userId":
    case "groupId":
    case "model":
      return text === "" ? null : text;
    case "whole":
    case "rate":
      return text === "" ? null : wholeOf(text);
    case "default":
      return text === "" ? undefined : wholeOf(text);
    case "amount":
      return text === "" ? null : (parseCents(text) ?? INVALID_AMOUNT);
    case "time":
      return text === "" ? null : timeOf(text);
    case "flag":
      return form.has(path);
    case "emails":
      return text.split(/[\s,]+/).filter((line) => line !== "");
    case "names":
      return parsePairs(text.split("\n").filter((line) => line.trim() !== ""));
    case "webhook": {
      const url = form.text(`${path}.url`);
      return url === "" ? null : { url };
    }
    case "limits":
      return limitsOf(path, text);
    case "someLimits":
      return text === "" ? undefined : limitsOf(path, text);
    case "models":
      return form.text(`${path}.all`) === "yes" ? null : form.getAll(path);
    default:
      return kind satisfies never;
  }
}

/** @throws AdminError 400 that says which line is none. */
function limitsOf(path: string, text: string): readonly Limit[] {
  try {
    return parseLimitList(text);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new AdminError("invalid_parameter", { message: `\`${path}\`: ${error.message}`, param: path });
  }
}

/** What is no number goes on as it is: the schema says what it expects. */
function wholeOf(text: string): number | string {
  return /^-?\d{1,15}(?:\.\d+)?$/.test(text) ? Number(text) : text;
}

/** A browser's `datetime-local`, which the page says is UTC. */
function timeOf(text: string): string {
  if (/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$/.test(text)) return `${text}:00Z`;
  return /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?$/.test(text) ? `${text}Z` : text;
}

/** Sets "notifications.emails": the member of the member. */
export function setAt(body: Record<string, unknown>, path: string, value: unknown): void {
  const [first = "", ...rest] = path.split(".");
  if (rest.length === 0) {
    body[first] = value;
    return;
  }
  const inner = (body[first] ?? {}) as Record<string, unknown>;
  body[first] = inner;
  setAt(inner, rest.join("."), value);
}

/** What differs from the present settings: an old value that was not touched is not checked again. */
export function pickChanges(wanted: object, current: object): Record<string, unknown> {
  const now = current as Record<string, unknown>;
  const changes: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(wanted)) {
    if (JSON.stringify(value) === JSON.stringify(now[name])) continue;
    const isGroup = isPlain(value) && isPlain(now[name]) && !("url" in value);
    changes[name] = isGroup ? pickChanges(value, now[name] as object) : value;
  }
  return changes;
}

function isPlain(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The parts of an API error's message, by the field that they name. */
export function splitProblems(error: AdminError): Problems {
  const parts = error.message.split(/(?:^|; )(?=`[\w.-]+`: )/);
  const problems = new Map<string, string>();
  for (const part of parts) {
    const match = /^`([\w.-]+)`: ([\s\S]+)$/.exec(part);
    const field = match?.[1] ?? (part === error.message ? error.param : null) ?? "";
    const text = match?.[2] ?? part;
    if (text !== "") problems.set(field, problems.has(field) ? `${problems.get(field)}; ${text}` : text);
  }
  return problems;
}
