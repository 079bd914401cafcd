import { type BootstrapFinding, createFinding } from "./finding.ts";
import type { YamlView } from "./yaml-view.ts";

/** One setting that must have a certain value. */
export interface SettingRule {
  readonly check: string;
  /** From the message that holds it. */
  readonly path: readonly (string | number)[];
  /** Whether what stands there, or Envoy's default where nothing does, will do. */
  readonly holds: (view: YamlView) => boolean;
  /** What happens otherwise. */
  readonly why: string;
  /** As it would be written: "failure_mode_allow: false". */
  readonly write: string;
}

/** A finding for each rule that does not hold. */
export function checkSettings(message: YamlView, rules: readonly SettingRule[]): BootstrapFinding[] {
  return rules.flatMap((rule) => {
    const view = message.at(...rule.path);
    if (rule.holds(view)) return [];
    const found = view.exists ? `${formatValue(view.value)} is set` : "it is not set";
    return [
      createFinding(view, {
        check: rule.check,
        message: `${found}: ${rule.why}`,
        fix: `Write \`${rule.write}\`.`,
      }),
    ];
  });
}

const MAX_SHOWN_CHARACTERS = 60;

function formatValue(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > MAX_SHOWN_CHARACTERS ? `${text.slice(0, MAX_SHOWN_CHARACTERS)}…` : text;
}

/** The value, or one that Envoy takes where it is left out. */
export function is(value: unknown, whenMissing?: unknown): (view: YamlView) => boolean {
  return (view) => (view.exists ? view.value === value : value === whenMissing);
}

/** A duration of at least so many seconds. */
export function isAtLeastSeconds(seconds: number): (view: YamlView) => boolean {
  return (view) => (view.seconds ?? -1) >= seconds;
}

/** A number of at least this. */
export function isAtLeast(least: number): (view: YamlView) => boolean {
  return (view) => (view.number ?? -1) >= least;
}
