/** Lists LiteLLM settings without a field in gateway.yaml, and where to set each instead. */
import { isJsonObject } from "../../text/json-object.ts";
import type { ConfigProblem } from "../config-error.ts";
import { problemAt } from "./issues.ts";
import type { YamlSource } from "./yaml-source.ts";

/** Maximum depth of sections. */
const MAX_DEPTH = 6;

interface Gap {
  /** Names of its fields, at any depth. */
  readonly names: RegExp;
  readonly message: string;
}

const GAPS: readonly Gap[] = [
  {
    names: /^(?:tpm|tpm_limit|default_api_key_tpm_limit|model_tpm_limit|team_member_tpm_limit)$/,
    message:
      "tokens per minute are a limit of an API key, user, group or organization, not of this file: " +
      "set `--tpm` with the `key`, `user`, `group` or `org` command",
  },
  {
    names: /^rpm$/,
    message:
      "requests per minute can't be limited for a model server: they are a limit of an API key, set with `key create --rpm`",
  },
  {
    names: /(?:^|_)budget(?:_|$)|^budget/,
    message:
      "amounts are not set in this file: API keys, users, groups and organizations have hard caps, which block requests, and " +
      "budgets, which alert, by day, week, month and in total (`limit set`). Caps of models and model providers aren't supported",
  },
  {
    names: /^teams?$|^team_(?:id|alias)$|^default_team_(?:settings|params)$/,
    message:
      "a team is a group of users and API keys with limits that they share, created with `group create`",
  },
  {
    names: /^(?:fallbacks|default_fallbacks|context_window_fallbacks|content_policy_fallbacks)$/,
    message:
      "a request never falls back to another model; a model's own servers, `urls` of an upstream, replace each other",
  },
];

/** Returns one problem for each kind of setting, at its first occurrence. */
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
    const memberPath = [...path, name];
    const gap = GAPS.find(({ names }) => names.test(name));
    if (gap === undefined) visit(inner, memberPath, found);
    else if (!found.has(gap)) found.set(gap, memberPath);
  }
}
