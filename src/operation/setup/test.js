/**
 * `npm test`: prepares the tests' requirements (npm packages, build, Envoy, Redis, a Python with the SDKs),
 * checks the types of `src` and runs all tests. Arguments go to vitest, and only the selected tests'
 * requirements are prepared: `npm test -- --project unit`. The last line is `N passed, N failed[, N
 * skipped]`. Node runs the runner's TypeScript.
 */
import { runStep } from "./run-step.js";

await runStep(async () => {
  const { ROOT } = await import("./prepare.js");
  const { runAll } = await import("../../../test/support/runner/run-all.ts");
  // Exits at once: a user who ends the tests does not wait for downloads.
  process.exit(await runAll(ROOT, process.argv.slice(2)));
});
