import type { z } from "zod";
import { valueAt } from "../../../shared/config/load/raw-values.ts";
import { IS_WHOLE } from "../../../shared/settings/input-schemas.ts";
import { AdminError } from "../admin-error.ts";
import { shorten } from "../../../shared/text/shorten.ts";

const MAX_SHOWN_CHARACTERS = 80;
const MAX_PROBLEMS = 10;

/**
 * Returns the checked value.
 * @throws AdminError 400 with every problem in its message; `param` names the first.
 */
export function checkInput<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const found = result.error.issues.flatMap((issue) => describeIssue(issue, value));
  const problems = [
    ...new Map(found.map((problem) => [`${problem.path} ${problem.text}`, problem])).values(),
  ];
  const first = problems[0];
  const isMissing = problems.every((problem) => problem.isMissing);
  const shown = problems.slice(0, MAX_PROBLEMS).map(({ path, text }) => `\`${path}\`: ${text}`);
  const more = problems.length > MAX_PROBLEMS ? `; and ${problems.length - MAX_PROBLEMS} more` : "";
  throw new AdminError(isMissing ? "missing_required_parameter" : "invalid_parameter", {
    message: `${shown.join("; ")}${more}`,
    ...(first === undefined ? {} : { param: first.path }),
  });
}

interface Problem {
  readonly path: string;
  readonly text: string;
  readonly isMissing: boolean;
}

function describeIssue(issue: z.core.$ZodIssue, value: unknown): Problem[] {
  const path = issue.path.map(String);
  if (issue.code === "unrecognized_keys") {
    const texts = issue.message.split("\n");
    return issue.keys.map((key, index) => ({
      path: shorten([...path, key].join("."), MAX_SHOWN_CHARACTERS),
      text: texts[index] ?? issue.message,
      isMissing: false,
    }));
  }
  const found = valueAt(value, ...path);
  const isMissing = found === undefined;
  const isWhole = issue.code === "custom" && issue.params?.[IS_WHOLE] === true;
  const text =
    isWhole || !issue.message.startsWith("expected ")
      ? issue.message
      : isMissing
        ? `required, but missing; ${issue.message}`
        : `${issue.message}, found ${formatFound(found)}`;
  return [{ path: path.length === 0 ? "body" : path.join("."), text, isMissing }];
}

function formatFound(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  if (typeof value === "object" && value !== null) return "an object";
  return shorten(JSON.stringify(value), MAX_SHOWN_CHARACTERS);
}
