import { type ConfigProblem, formatProblem } from "../../shared/config/config-error.ts";
import type { Finding } from "../../shared/host/finding.ts";
import type { YamlView } from "./yaml-view.ts";

/**
 * Problem of an Envoy configuration that breaks a promise of the gateway, in the form of problems of
 * `gateway.yaml`, with Envoy's field names. `line` is the line of the nearest enclosing mapping if the field
 * is missing; `message` also names the consequence.
 */
export interface BootstrapFinding extends ConfigProblem, Finding<BootstrapLevel> {
  readonly message: string;
  readonly fix: string;
}

/** `problem`: must be changed. `unchecked`: defined elsewhere (xDS), so check it yourself. */
type BootstrapLevel = "problem" | "unchecked";

interface FindingText {
  readonly check: string;
  readonly message: string;
  readonly fix: string;
  readonly level?: BootstrapFinding["level"];
}

/** Returns a finding at this place. */
export function findAt({ line, path }: YamlView, text: FindingText): BootstrapFinding[] {
  const { check, message, fix, level = "problem" } = text;
  return [{ check, level, path, ...(line === undefined ? {} : { line }), message, fix }];
}

/** Returns a finding at this place, or none if it is right. */
export function findUnless(isRight: boolean, view: YamlView, text: FindingText): BootstrapFinding[] {
  return isRight ? [] : findAt(view, text);
}

/** Formats "line 14: static_resources.…: what is wrong. What to do." */
export function formatFinding(finding: BootstrapFinding): string {
  const note = finding.level === "unchecked" ? "not checked: " : "";
  return `${note}${formatProblem(finding)} ${finding.fix}`;
}
