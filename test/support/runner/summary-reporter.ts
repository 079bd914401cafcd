import { writeFileSync } from "node:fs";
import type { TestModule } from "vitest/node";

/** Names the file that the summary is written to. */
export const SUMMARY_FILE = "TEST_SUMMARY_FILE";

const MAX_MESSAGE_LENGTH = 300;

/** How a run of the tests went. */
export interface TestSummary {
  readonly passed: number;
  /**
   * Each test that failed: its full name and the beginning of its error. So is each file that failed though none of its
   * tests did: it could not be loaded or set up. So is each error that was thrown outside of a test.
   */
  readonly failed: readonly string[];
  readonly skipped: number;
  /** The tests that were tried more than once, with the beginning of the error that the first try ended in. */
  readonly retried: readonly string[];
  readonly files: readonly TestedFile[];
}

/** A file of tests, with the time that it took: loading it, its hooks and its tests. */
export interface TestedFile {
  readonly name: string;
  readonly milliseconds: number;
  /** Of its process and its ended children; null where it is not known. */
  readonly processorMilliseconds: number | null;
}

/** vitest's reporter behind the closing lines of `npm test`: its own JSON does not say which tests were tried again. */
export default class SummaryReporter {
  onTestRunEnd(modules: readonly TestModule[], thrownOutside: readonly ThrownOutside[]): void {
    writeFileSync(process.env[SUMMARY_FILE] ?? "", JSON.stringify(summarize(modules, thrownOutside)));
  }
}

type Summarized = Pick<
  TestModule,
  "children" | "diagnostic" | "errors" | "meta" | "project" | "relativeModuleId" | "state"
>;

/** An error, with the test that ran when it was thrown, as far as vitest knows it. */
interface ThrownOutside {
  readonly message: string;
  readonly stack?: string;
  readonly VITEST_TEST_NAME?: unknown;
}

export function summarize(
  modules: readonly Summarized[],
  thrownOutside: readonly ThrownOutside[] = [],
): TestSummary {
  const count = { passed: 0, failed: 0, skipped: 0, pending: 0 };
  const failed: string[] = [];
  const retried: string[] = [];
  for (const module of modules) {
    const failedBefore = failed.length;
    for (const test of module.children.allTests()) {
      const { state, errors } = test.result();
      count[state] += 1;
      if (state === "failed") failed.push(describeFailure(test.fullName, errors));
      if ((test.diagnostic()?.retryCount ?? 0) > 0) retried.push(describeFailure(test.fullName, errors));
    }
    if (module.state() === "failed" && failed.length === failedBefore) {
      failed.push(describeFailure(module.relativeModuleId, module.errors()));
    }
  }
  failed.push(...new Set(thrownOutside.map(describeThrownOutside)));
  const files = modules.map(measureFile);
  return { passed: count.passed, failed, skipped: count.skipped + count.pending, retried, files };
}

function measureFile(
  module: Pick<Summarized, "diagnostic" | "meta" | "project" | "relativeModuleId">,
): TestedFile {
  const { collectDuration, setupDuration, duration } = module.diagnostic();
  return {
    name: `${module.project.name} ${module.relativeModuleId}`,
    milliseconds: collectDuration + setupDuration + duration,
    processorMilliseconds: module.meta().processorMilliseconds ?? null,
  };
}

function describeFailure(name: string, errors: readonly { readonly message: string }[] | undefined): string {
  const message = errors?.[0]?.message.split("\n")[0] ?? "";
  return message === "" ? name : `${name}: ${message.slice(0, MAX_MESSAGE_LENGTH)}`;
}

/** With the line that threw it, the only trace of which file it was. */
function describeThrownOutside({ message, stack, VITEST_TEST_NAME: test }: ThrownOutside): string {
  const line = stack?.split("\n").find((frame) => frame.trim().startsWith("at ")) ?? "";
  const place = [test, line.trim()].filter((part) => typeof part === "string" && part !== "").join(", ");
  return describeFailure(`outside of a test${place === "" ? "" : ` (${place})`}`, [{ message }]);
}
