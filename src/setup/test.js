/**
 * `npm test`: all that the tests need (npm packages, build, Envoy, Redis, a Python with the SDKs), then all tests.
 * Arguments go to vitest: `npm test -- --project unit`. The last line is `N passed, N failed[, N skipped]`.
 */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { runStep } from "./run-step.js";

await runStep(async () => {
  const { prepareClone, ROOT, withSetupLock } = await import("./prepare.js");
  await prepareClone();
  /** @type {typeof import("./test-tools.js")} */
  const { prepareTestTools } = await import(pathToFileURL(join(ROOT, "dist", "setup", "test-tools.js")).href);
  const requirements = join(ROOT, "test", "clients", "python", "requirements.txt");
  const tools = await withSetupLock(() => prepareTestTools(requirements));
  const { runTests } = await import("./run-tests.js");
  process.exitCode = await runTests(ROOT, process.argv.slice(2), { ...process.env, ...tools });
});
