import type { YamlView } from "./yaml-view.ts";

/** One thing in an Envoy configuration that breaks what the gateway promises. */
export interface BootstrapFinding {
  /** Name of the check, for programs: "filter_order". */
  readonly check: string;
  /** `problem`: must be changed. `unchecked`: lies elsewhere (xDS), look there yourself. */
  readonly severity: "problem" | "unchecked";
  /** Where, in Envoy's field names. */
  readonly path: string;
  /** From 1. Of the nearest mapping around it when the field itself is missing. */
  readonly line?: number;
  /** What is wrong, and what happens by it. */
  readonly message: string;
  /** What to write instead. */
  readonly fix: string;
}

interface FindingText {
  readonly check: string;
  readonly message: string;
  readonly fix: string;
  readonly severity?: BootstrapFinding["severity"];
}

/** A finding at a place. */
export function createFinding(view: YamlView, text: FindingText): BootstrapFinding {
  const { line, path } = view;
  const { check, message, fix, severity = "problem" } = text;
  return { check, severity, path, ...(line === undefined ? {} : { line }), message, fix };
}

/** "line 14: static_resources.…: what is wrong. What to do." */
export function formatFinding(finding: BootstrapFinding): string {
  const line = finding.line === undefined ? "" : `line ${finding.line}: `;
  const path = finding.path === "" ? "" : `${finding.path}: `;
  const note = finding.severity === "unchecked" ? "not checked: " : "";
  return `${note}${line}${path}${finding.message} ${finding.fix}`;
}
