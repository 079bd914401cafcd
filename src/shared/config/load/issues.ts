import type { z } from "zod";
import { formatPath, type ConfigProblem, type FieldPath } from "../config-error.ts";
import { valueAt } from "./raw-values.ts";
import type { YamlSource } from "./yaml-source.ts";
import { shorten } from "../../text/shorten.ts";

const MAX_SHOWN_CHARACTERS = 80;

/** Converts issues of the schema to problems with the expected and the found value. */
export function describeIssues(issues: readonly z.core.$ZodIssue[], source: YamlSource): ConfigProblem[] {
  return issues.flatMap((issue) => {
    const path = issue.path.map((step) => (typeof step === "symbol" ? String(step) : step));
    if (issue.code === "unrecognized_keys") {
      const messages = issue.message.split("\n");
      return issue.keys.map((key, index) =>
        problemAt(source, [...path, key], messages[index] ?? issue.message),
      );
    }
    if (issue.code === "invalid_key") {
      return [problemAt(source, path, issue.issues[0]?.message ?? issue.message)];
    }
    return [problemAt(source, path, describeIssue(issue, path, source))];
  });
}

/** Returns a problem with the line of its field. */
export function problemAt(source: YamlSource, path: FieldPath, message: string): ConfigProblem {
  const line = source.lineOf(path);
  return { path: formatPath(path), ...(line === undefined ? {} : { line }), message };
}

/** Formats the message. Field kinds write "expected …" and, after a line break, text that follows the found value. */
function describeIssue(issue: z.core.$ZodIssue, path: FieldPath, source: YamlSource): string {
  const [expectation = "", suffix = ""] = issue.message.split("\n");
  if (!expectation.startsWith("expected ")) return issue.message;
  const value = valueAt(source.value, ...path);
  if (value === undefined) return `required, but missing; ${expectation}`;
  const written = source.writtenAt(path);
  const found = formatFound(value, written);
  const isText = issue.code === "invalid_type" && issue.expected === "string";
  return `${expectation}, found ${found}${isText ? formatQuoted(value, written) : suffix}`;
}

/** Returns ': write "2.50" in quotes' if a number was written in place of a text. */
function formatQuoted(value: unknown, written: string | undefined): string {
  const isPlain = typeof value === "number" && written !== undefined && /^\d+(?:\.\d+)?$/.test(written);
  return isPlain ? `: write "${written}" in quotes` : "";
}

function formatFound(value: unknown, written: string | undefined): string {
  if (value === null) return "nothing";
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  if (typeof value === "object") return Object.keys(value).length === 0 ? "an empty mapping" : "a mapping";
  if (typeof value === "string") return JSON.stringify(shorten(hideCredentials(value), MAX_SHOWN_CHARACTERS));
  return `the ${typeof value} ${written ?? JSON.stringify(value)}`;
}

/** Hides credentials: a URL may contain a password before its `@`. */
function hideCredentials(text: string): string {
  return text.replace(/(:\/\/).*@/, "$1***@");
}
