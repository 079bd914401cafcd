import { writeFileSync } from "node:fs";
import type { TestModule } from "vitest/node";

/** Names the file that the summary is written to. */
export const SUMMARY_FILE = "TEST_SUMMARY_FILE";

/** How a run of the tests went. */
export interface TestSummary {
  readonly passed: number;
  /** With files that failed though none of their tests did: they could not be loaded or set up. */
  readonly failed: number;
  readonly skipped: number;
  /** Full names of the tests that were tried more than once. */
  readonly retried: readonly string[];
}

/** vitest's reporter behind the closing lines of `npm test`: its own JSON does not say which tests were tried again. */
export default class SummaryReporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    writeFileSync(process.env[SUMMARY_FILE] ?? "", JSON.stringify(summarize(modules)));
  }
}

export function summarize(modules: readonly Pick<TestModule, "children" | "state">[]): TestSummary {
  const count = { passed: 0, failed: 0, skipped: 0, pending: 0 };
  const retried: string[] = [];
  for (const module of modules) {
    const failedBefore = count.failed;
    for (const test of module.children.allTests()) {
      count[test.result().state] += 1;
      if ((test.diagnostic()?.retryCount ?? 0) > 0) retried.push(test.fullName);
    }
    if (module.state() === "failed" && count.failed === failedBefore) count.failed += 1;
  }
  return { passed: count.passed, failed: count.failed, skipped: count.skipped + count.pending, retried };
}
