/**
 * Conversion of form texts to JSON of the management API, and of API errors to texts next to the fields. Only
 * the API's schemas check values; here only the notation changes.
 */
import { parseCents } from "../../../shared/money/money.ts";
import { type Limit, parseLimitList } from "../../../shared/settings/limits.ts";
import { parsePairs } from "../../../shared/settings/parse-pairs.ts";
import type { Notation } from "../../../shared/settings/setting.ts";
import { capitalize } from "../../../shared/text/capitalize.ts";
import { AdminError, invalidField } from "../admin-error.ts";
import { amountText, spellOut } from "../format.ts";

/**
 * Kind of a field: the notation of a setting, or `line`, a text whose empty value is null, or `default`, an
 * integer whose empty value is left to the API, like that of `someLimits`. An empty number, amount, time,
 * model and webhook is null; emails are one per line, names are lines of `name = value`; a webhook is an
 * object with its URL, from `<name>.url`; models are all checkboxes of that name, null if `<name>.all` is
 * set.
 */
export type FieldKind =
  | Exclude<Notation, "group" | "webhooks" | "raises">
  | "line"
  | "default"
  | "someLimits";
export type Fields = Readonly<Record<string, FieldKind>>;

/** Problems by field; "" for those without a field. */
export type Problems = ReadonlyMap<string, string>;
export const NO_PROBLEMS: Problems = new Map();

/** Values of a form, as a browser sends it. */
export class FormValues extends URLSearchParams {
  /** Text of a field; "" if it was not sent. */
  text(name: string): string {
    return (this.get(name) ?? "").trim();
  }
}

/**
 * Builds the body of an API call; "notifications.emails" becomes a member of `notifications`.
 * @throws AdminError 400 for an amount that is neither "50" nor "50.00".
 */
export function readBody(form: FormValues, fields: Fields): Record<string, unknown> {
  const body: Record<string, unknown> = {};
  const problems: string[] = [];
  for (const [path, kind] of Object.entries(fields)) {
    const value = readField(form, path, kind);
    if (value === INVALID_AMOUNT) {
      problems.push(`\`${path}\`: expected an amount such as 50 or 50.00, or an empty field for none`);
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
      // A field that the form does not have is left to the API.
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
      return form.has(path) || form.has(`${path}.amount`) ? limitsOf(form, path) : undefined;
    case "someLimits": {
      const some = limitsOf(form, path);
      return some.length === 0 ? undefined : some;
    }
    case "models":
      return form.text(`${path}.all`) === "yes" ? null : form.getAll(path);
    default:
      return kind satisfies never;
  }
}

/** The parts of a row of limits, below the field's name. */
export const LIMIT_PARTS = ["period", "kind", "amount", "alerts"] as const;

/** The rows of limits as lines, "day cap 5.00", without those that have no amount; or the text of a field of lines. */
export function limitLines(form: FormValues, path: string): readonly string[] {
  if (!form.has(`${path}.amount`)) return form.text(path).split("\n");
  const [periods, kinds, amounts, alerts] = LIMIT_PARTS.map((part) => form.getAll(`${path}.${part}`));
  return (amounts ?? []).flatMap((amount, place) => {
    const at = alerts?.[place]?.trim() ?? "";
    const suffix = at === "" ? "" : ` at ${at.replaceAll(",", " ")}`;
    return amount.trim() === "" ? [] : [`${periods?.[place]} ${kinds?.[place]} ${amount.trim()}${suffix}`];
  });
}

/** Splits a line of `limitLines`, also one with an invalid amount. */
export function partsOfLimit(line: string): Readonly<Record<(typeof LIMIT_PARTS)[number], string>> {
  const [limit = "", alerts = ""] = line.split(/ at (?=[^ ])/);
  const [period = "", kind = "", ...amount] = limit.split(" ");
  return { period, kind, amount: amount.join(" "), alerts };
}

/** @throws AdminError 400 that names the invalid line or amount. */
function limitsOf(form: FormValues, path: string): readonly Limit[] {
  const lines = limitLines(form, path);
  const wrong = lines.map((line) => partsOfLimit(line).amount).find(isNoAmount);
  if (wrong !== undefined && form.has(`${path}.amount`)) {
    throw invalidField(path, `"${wrong}": expected an amount such as 10 or 10.50, with a decimal point`);
  }
  try {
    return parseLimitList(lines.join("\n"));
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw invalidField(path, error.message);
  }
}

function isNoAmount(text: string): boolean {
  return parseCents(text) === null;
}

/** Passes other texts on unchanged: the schema reports what it expects. */
function wholeOf(text: string): number | string {
  return /^-?\d{1,15}(?:\.\d+)?$/.test(text) ? Number(text) : text;
}

/** Converts a browser's `datetime-local`, which the page labels as UTC. */
function timeOf(text: string): string {
  if (/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$/.test(text)) return `${text}:00Z`;
  return /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?$/.test(text) ? `${text}Z` : text;
}

/** Sets a nested member, such as "notifications.emails". */
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

/** Returns the differences to the current settings, so that unchanged old values are not checked again. */
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

/** Splits the message of an API error by the fields that it names. */
export function splitProblems(error: AdminError): Problems {
  const parts = error.message.split(/(?:^|; )(?=`[\w.-]+`: )/);
  const problems = new Map<string, string>();
  for (const part of parts) {
    const match = /^`([\w.-]+)`: ([\s\S]+)$/.exec(part);
    const field = match?.[1] ?? (part === error.message ? error.param : null) ?? "";
    const text = nameAmounts(match?.[2] ?? part);
    if (text !== "") problems.set(field, problems.has(field) ? `${problems.get(field)}; ${text}` : text);
  }
  return problems;
}

const CENTS =
  /^(expected )a whole number of cents from (\d+) to (\d+)(?:, or null for none)?, found (-?\d+)$/;

/** The API counts cents where forms have amounts: "expected an amount from 0.00 to 90000000.00, found …". */
function nameAmounts(text: string): string {
  return text.replace(CENTS, (_, expected: string, ...cents: string[]) => {
    const [from, to, found] = cents.map((amount) => amountText(Number(amount)));
    return `${expected}an amount from ${from} to ${to}, found ${found}`;
  });
}

/** Returns the problems of a list's filters, each with its label: "Tag: expected …". */
export function describeProblems(error: AdminError): string {
  const texts = Array.from(splitProblems(error), ([field, text]) =>
    field === "" ? text : `${capitalize(spellOut(field).replace(/ id$/, ""))}: ${text}`,
  );
  return texts.join("; ");
}
