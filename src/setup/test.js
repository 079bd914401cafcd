/**
 * `npm test`: all that the tests need (npm packages, build, Envoy, Redis, a Python with the SDKs), then all tests. The
 * types of `src` are checked first, unless only some tests are asked for.
 * Arguments go to vitest: `npm test -- --project unit`. The last line is `N passed, N failed[, N skipped]`.
 */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { runStep } from "./run-step.js";

await runStep(async () => {
  const { checkTypes } = await import("./build.js");
  const { prepareClone, ROOT, withSetupLock } = await import("./prepare.js");
  await prepareClone();
  const runsEverything = process.argv.length === 2;
  if (runsEverything) await checkTypes(ROOT);
  // What tests alone need is no part of the product: TypeScript beside them, run as it is.
  const { tsImport } = await import("tsx/esm/api");
  const module = pathToFileURL(join(ROOT, "test", "support", "runner", "run-all.ts")).href;
  const { runAll } = await tsImport(module, import.meta.url);
  // At once: who has ended the tests waits for no tool that is still being fetched.
  process.exit(await runAll(ROOT, process.argv.slice(2), withSetupLock));
});
