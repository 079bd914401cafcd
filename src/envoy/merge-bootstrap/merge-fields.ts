/** Puts the settings that are missing into a mapping; what is there and differs is the operator's, until it is in the way. */
import { isMap, type YAMLMap } from "yaml";
import { formatPath } from "../../shared/config/config-error.ts";
import { type EnvoyNode, type EnvoyValue, OneLine, plain } from "../bootstrap/yaml-document.ts";
import { canonical } from "../check-bootstrap/setting-rule.ts";
import { formatField } from "./format-part.ts";
import type { Place, YamlText } from "./yaml-text.ts";

/** Whether what stands at a path breaks a promise of the gateway, as `config check --envoy` says. */
export type IsWrong = (path: string) => boolean;

export interface Merging {
  readonly yaml: YamlText;
  readonly isWrong: IsWrong;
}

/** Adds each of the fields that `target` lacks, down to the innermost; replaces what is wrong. */
export function mergeFields({ yaml, isWrong }: Merging, target: Place<YAMLMap>, wanted: EnvoyNode): void {
  for (const [name, value] of Object.entries(wanted)) {
    if (name.startsWith("#")) continue;
    const found = yaml.field(target, name);
    if (found === null) {
      // An empty field is one that is there: a second of its name would be an error.
      yaml.replaceField(target, name, formatField(wanted, name));
      continue;
    }
    const inner = value instanceof OneLine ? value.value : value;
    if (isSame(found.node, value)) continue;
    if (isMap(found.node) && isFields(inner)) {
      mergeFields({ yaml, isWrong }, { node: found.node, path: found.path }, inner);
    } else if (isWrong(formatPath(found.path))) {
      yaml.replaceField(target, name, formatField(wanted, name));
    }
  }
}

/** Whether a node says what a part of ours says, by whichever spelling and order of its fields. */
export function isSame(node: { toJSON(): unknown }, value: EnvoyValue): boolean {
  return meaningOf(node.toJSON()) === meaningOf(plain(value));
}

/** The same text for all that means the same. */
export function meaningOf(value: unknown): string {
  return JSON.stringify(canonical(value));
}

function isFields(value: EnvoyValue): value is EnvoyNode {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof OneLine);
}
