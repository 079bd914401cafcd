/** Adds missing settings to a mapping; an operator's differing value stays unless it conflicts. */
import { isMap, type YAMLMap } from "yaml";
import { formatPath } from "../../shared/config/config-error.ts";
import { type EnvoyNode, type EnvoyValue, OneLine, plain } from "../bootstrap/yaml-document.ts";
import { canonical } from "../check-bootstrap/setting-rule.ts";
import { formatField } from "./format-part.ts";
import type { Place, YamlText } from "./yaml-text.ts";

/** Returns whether the value at a path breaks a promise of the gateway, as `config check --envoy` decides. */
export type IsWrong = (path: string) => boolean;

export interface Merging {
  readonly yaml: YamlText;
  readonly isWrong: IsWrong;
}

/** Adds each field that `target` lacks, down to the innermost; replaces wrong ones. */
export function mergeFields({ yaml, isWrong }: Merging, target: Place<YAMLMap>, wanted: EnvoyNode): void {
  for (const [name, value] of Object.entries(wanted)) {
    if (name.startsWith("#")) continue;
    const found = yaml.field(target, name);
    if (found === null) {
      // An empty field exists: adding a second one would be an error.
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

/** Returns whether a node has the meaning of a part of ours, in any spelling and order of fields. */
export function isSame(node: { toJSON(): unknown }, value: EnvoyValue): boolean {
  return meaningOf(node.toJSON()) === meaningOf(plain(value));
}

/** Returns the same text for all values with the same meaning. */
export function meaningOf(value: unknown): string {
  return JSON.stringify(canonical(value));
}

function isFields(value: EnvoyValue): value is EnvoyNode {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof OneLine);
}
