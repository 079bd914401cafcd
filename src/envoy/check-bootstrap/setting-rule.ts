import { type BootstrapFinding, findUnless } from "./finding.ts";
import type { YamlView } from "./yaml-view.ts";
import { shorten } from "../../shared/text/shorten.ts";

type Path = readonly (string | number)[];

/** One setting that must have a certain value. */
export interface SettingRule {
  readonly check: string;
  /** From the message that holds it. */
  readonly path: Path;
  /** Whether what stands there, or Envoy's default where nothing does, will do; what is rendered when left out. */
  readonly holds?: (view: YamlView, rendered: YamlView) => boolean;
  /** What happens otherwise. */
  readonly why: string;
  /** What is shown as it would be written: a setting around `path`, or words; the setting at `path` when left out. */
  readonly write?: Path | ((rendered: YamlView) => string);
}

/** A finding for each rule that does not hold. `rendered` is the same message as the gateway renders it. */
export function checkSettings(
  message: YamlView,
  rendered: YamlView,
  rules: readonly SettingRule[],
): BootstrapFinding[] {
  return rules.flatMap((rule) => {
    const view = message.at(...rule.path);
    const { check, holds = isRendered() } = rule;
    const found = view.exists ? `${formatValue(view.value)} is set` : "it is not set";
    return findUnless(holds(view, rendered.at(...rule.path)), view, {
      check,
      message: `${found}: ${rule.why}`,
      fix: `Write \`${formatRule(rule, rendered)}\`.`,
    });
  });
}

const MAX_SHOWN_CHARACTERS = 60;

function formatValue(value: unknown): string {
  return shorten(JSON.stringify(value), MAX_SHOWN_CHARACTERS);
}

/** "failure_mode_allow: false". */
function formatRule({ path, write = path }: SettingRule, rendered: YamlView): string {
  if (typeof write === "function") return write(rendered);
  const name = String(write.at(-1));
  const setting = rendered.at(...write);
  return setting.exists ? `${name}: ${formatFlow(setting.value)}` : `(nothing: remove ${name})`;
}

/** A value as YAML on one line. */
export function formatFlow(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(formatFlow).join(", ")}]`;
  if (typeof value !== "object" || value === null) return String(value);
  const fields = Object.entries(value).map(([name, field]) => `${name}: ${formatFlow(field)}`);
  return `{${fields.join(", ")}}`;
}

/** What is rendered; `whenMissing` is what Envoy takes where it is left out. */
export function isRendered(whenMissing?: unknown): NonNullable<SettingRule["holds"]> {
  return (view, rendered) => (view.exists ? view.value : whenMissing) === rendered.value;
}

/** A list with all that is rendered, and perhaps more. */
export function hasRendered(view: YamlView, rendered: YamlView): boolean {
  const members = view.items().map((item) => item.text);
  return rendered.items().every((item) => members.includes(item.text));
}

/** Something where something is rendered, nothing where nothing is. */
export function existsAsRendered(view: YamlView, rendered: YamlView): boolean {
  return view.exists === rendered.exists;
}

/** Nothing where nothing is rendered, else exactly what is rendered, by whichever spelling of its names. */
export function isSameAsRendered(view: YamlView, rendered: YamlView): boolean {
  return JSON.stringify(canonical(view.value)) === JSON.stringify(canonical(rendered.value));
}

/** A value with its names as protobuf writes them and in one order: the same of two that mean the same. */
export function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== "object" || value === null) return value ?? null;
  const fields = Object.entries(value).map(([name, field]): [string, unknown] => [
    name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    canonical(field),
  ]);
  return Object.fromEntries(fields.sort(([one], [next]) => (one < next ? -1 : 1)));
}

/** A duration of at least so many seconds. */
export function isAtLeastSeconds(seconds: number): (view: YamlView) => boolean {
  return (view) => (view.seconds ?? -1) >= seconds;
}

/** A number of at least this. */
export function isAtLeast(least: number): (view: YamlView) => boolean {
  return (view) => (view.number ?? -1) >= least;
}
