/** The shipped alarm rules, as data. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";

export const RULES_FILE = fileURLToPath(
  new URL("../../deploy/prometheus/inference-gateway.rules.yml", import.meta.url),
);

export interface AlarmRule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export interface RuleFile {
  readonly groups: readonly { readonly name: string; readonly rules: readonly AlarmRule[] }[];
}

export function readRules(): RuleFile {
  return parse(readFileSync(RULES_FILE, "utf8")) as RuleFile;
}
