import { type ConfigProblem, formatProblem } from "../../shared/config/config-error.ts";
import type { Finding } from "../../shared/host/finding.ts";
import type { YamlView } from "./yaml-view.ts";

/**
 * One thing in an Envoy configuration that breaks what the gateway promises: a problem of a file like those of
 * `gateway.yaml`, by Envoy's field names. `line` is of the nearest mapping around it when the field itself is missing;
 * `message` says what happens by it, too.
 */
export interface BootstrapFinding extends ConfigProblem, Finding<BootstrapLevel> {
  readonly message: string;
  readonly fix: string;
}

/** `problem`: must be changed. `unchecked`: lies elsewhere (xDS), look there yourself. */
type BootstrapLevel = "problem" | "unchecked";

interface FindingText {
  readonly check: string;
  readonly message: string;
  readonly fix: string;
  readonly level?: BootstrapFinding["level"];
}

/** What is found at a place. */
export function findAt({ line, path }: YamlView, text: FindingText): BootstrapFinding[] {
  const { check, message, fix, level = "problem" } = text;
  return [{ check, level, path, ...(line === undefined ? {} : { line }), message, fix }];
}

/** The same, or nothing where all is as it must be. */
export function findUnless(isRight: boolean, view: YamlView, text: FindingText): BootstrapFinding[] {
  return isRight ? [] : findAt(view, text);
}

/** "line 14: static_resources.…: what is wrong. What to do." */
export function formatFinding(finding: BootstrapFinding): string {
  const note = finding.level === "unchecked" ? "not checked: " : "";
  return `${note}${formatProblem(finding)} ${finding.fix}`;
}
