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
  // What tests alone need is no part of the product: TypeScript beside them, run as it is.
  const { tsImport } = await import("tsx/esm/api");
  const tools = pathToFileURL(join(ROOT, "test", "support", "tools", "test-tools.ts")).href;
  /** @type {{prepareTestTools: (requirementsFile: string) => Promise<Record<string, string>>}} */
  const { prepareTestTools } = await tsImport(tools, import.meta.url);
  const requirements = join(ROOT, "test", "clients", "python", "requirements.txt");
  const env = await withSetupLock(() => prepareTestTools(requirements));
  const { runTests } = await import("./run-tests.js");
  process.exitCode = await runTests(ROOT, process.argv.slice(2), { ...process.env, ...env });
});
