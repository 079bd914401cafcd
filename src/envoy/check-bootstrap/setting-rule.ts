import { type BootstrapFinding, findUnless } from "./finding.ts";
import type { YamlView } from "./yaml-view.ts";
import { shorten } from "../../shared/text/shorten.ts";

type Path = readonly (string | number)[];

/** Required value of one setting. */
export interface SettingRule {
  readonly check: string;
  /** Path from the message that contains it. */
  readonly path: Path;
  /**
   * Returns whether the value, or Envoy's default if missing, is acceptable. Default: it must equal the
   * rendered value.
   */
  readonly holds?: (view: YamlView, rendered: YamlView) => boolean;
  /** Consequence of another value. */
  readonly why: string;
  /** Text to show as the right value: a setting around `path`, or words. Default: the setting at `path`. */
  readonly write?: Path | ((rendered: YamlView) => string);
}

/** Returns a finding for each rule that does not hold. `rendered` is the same message as the gateway renders it. */
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

/** Formats "failure_mode_allow: false". */
function formatRule({ path, write = path }: SettingRule, rendered: YamlView): string {
  if (typeof write === "function") return write(rendered);
  const name = String(write.at(-1));
  const setting = rendered.at(...write);
  return setting.exists ? `${name}: ${formatFlow(setting.value)}` : `(nothing: remove ${name})`;
}

/** Formats a value as YAML on one line. */
export function formatFlow(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(formatFlow).join(", ")}]`;
  if (typeof value !== "object" || value === null) return String(value);
  const fields = Object.entries(value).map(([name, field]) => `${name}: ${formatFlow(field)}`);
  return `{${fields.join(", ")}}`;
}

/** Accepts the rendered value; `whenMissing` is Envoy's default for a missing field. */
export function isRendered(whenMissing?: unknown): NonNullable<SettingRule["holds"]> {
  return (view, rendered) => (view.exists ? view.value : whenMissing) === rendered.value;
}

/** Accepts a list with all rendered members, and possibly more. */
export function hasRendered(view: YamlView, rendered: YamlView): boolean {
  const members = view.items().map((item) => item.text);
  return rendered.items().every((item) => members.includes(item.text));
}

/** Accepts any value if one is rendered, otherwise none. */
export function existsAsRendered(view: YamlView, rendered: YamlView): boolean {
  return view.exists === rendered.exists;
}

/** Accepts exactly the rendered value, in either spelling of names, or nothing if nothing is rendered. */
export function isSameAsRendered(view: YamlView, rendered: YamlView): boolean {
  return JSON.stringify(canonical(view.value)) === JSON.stringify(canonical(rendered.value));
}

/** Accepts the rendered value; any if nothing is rendered. */
export function isAsRendered(view: YamlView, rendered: YamlView): boolean {
  return !rendered.exists || isSameAsRendered(view, rendered);
}

/** Normalizes names to protobuf's and sorts them, so that equal meanings give equal values. */
function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== "object" || value === null) return value ?? null;
  const fields = Object.entries(value).map(([name, field]): [string, unknown] => [
    name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    canonical(field),
  ]);
  return Object.fromEntries(fields.sort(([one], [next]) => (one < next ? -1 : 1)));
}

/** Accepts a duration of at least this many seconds. */
export function isAtLeastSeconds(seconds: number): (view: YamlView) => boolean {
  return (view) => (view.seconds ?? -1) >= seconds;
}

/** Accepts a number of at least this. */
export function isAtLeast(least: number): (view: YamlView) => boolean {
  return (view) => (view.number ?? -1) >= least;
}
