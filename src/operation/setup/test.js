/**
 * `npm test`: prepares what the tests need (npm packages, build, Envoy, Redis, a Python with the SDKs), checks the types of
 * `src` and runs all tests. Arguments go to vitest, and only what the selected tests need is prepared:
 * `npm test -- --project unit`. The last line is `N passed, N failed[, N skipped]`. Node runs the runner's TypeScript.
 */
import { runStep } from "./run-step.js";

await runStep(async () => {
  const { ROOT } = await import("./prepare.js");
  const { runAll } = await import("../../../test/support/runner/run-all.ts");
  // At once: who has ended the tests waits for no tool that is still being fetched.
  process.exit(await runAll(ROOT, process.argv.slice(2)));
});
