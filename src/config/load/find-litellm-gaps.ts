/** What a LiteLLM configuration sets that there is nothing for here yet: told by name, so that nobody takes it for kept. */
import { isJsonObject } from "../../text/json-object.ts";
import type { ConfigProblem } from "../config-error.ts";
import { problemAt } from "./issues.ts";
import type { YamlSource } from "./yaml-source.ts";

/** Sections lie in sections, no deeper than this. */
const MAX_DEPTH = 6;

interface Gap {
  /** Names of its fields, at whatever depth. */
  readonly names: RegExp;
  readonly message: string;
}

const GAPS: readonly Gap[] = [
  {
    names: /^(?:tpm|tpm_limit|default_api_key_tpm_limit|model_tpm_limit|team_member_tpm_limit)$/,
    message:
      "tokens per minute cannot be limited here yet: a key has a limit of requests a minute and one of requests in flight",
  },
  {
    names: /^rpm$/,
    message:
      "requests per minute of a server cannot be limited here yet: `requests_per_minute` is a key's, made in the dashboard",
  },
  {
    names: /(?:^|_)budget(?:_|$)|^budget/,
    message:
      "budgets are no part of the file, and there are none yet of users, teams, models and providers, or of other periods " +
      "than a month: a key and an organization have a monthly hard cap, which refuses, and a monthly budget, which alerts",
  },
  {
    names: /^teams?$|^team_(?:id|alias)$|^default_team_(?:settings|params)$/,
    message:
      "there are no teams here yet: an organization has keys, and `default_tags` of a key such as `team=search` tell its " +
      "usage apart, without limits of their own",
  },
];

/** One problem for each kind of setting, where it stands first. */
export function findLiteLlmGaps(source: YamlSource): readonly ConfigProblem[] {
  const found = new Map<Gap, readonly (string | number)[]>();
  visit(source.value, [], found);
  return Array.from(found, ([{ message }, path]) => problemAt(source, path, message));
}

function visit(
  value: unknown,
  path: readonly (string | number)[],
  found: Map<Gap, readonly (string | number)[]>,
): void {
  if (path.length > MAX_DEPTH) return;
  if (Array.isArray(value)) value.forEach((item, index) => visit(item, [...path, index], found));
  if (!isJsonObject(value)) return;
  for (const [name, inner] of Object.entries(value)) {
    const here = [...path, name];
    const gap = GAPS.find(({ names }) => names.test(name));
    if (gap === undefined) visit(inner, here, found);
    else if (!found.has(gap)) found.set(gap, here);
  }
}
