/**
 * `npm test`: all that the tests need (npm packages, build, Envoy, Redis, a Python with the SDKs), then all tests. What only
 * whole stacks need is fetched while those of units and of the store run.
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
  const module = pathToFileURL(join(ROOT, "test", "support", "tools", "test-tools.ts")).href;
  /**
   * @type {{
   *   prepareStoreTools: (lines: import("./held-lines.js").HeldLines) => Promise<Record<string, string>>,
   *   prepareStackTools: (lines: import("./held-lines.js").HeldLines, requirementsFile: string) => Promise<Record<string, string>>,
   * }}
   */
  const { prepareStoreTools, prepareStackTools } = await tsImport(module, import.meta.url);
  const { createHeldLines } = await import("./held-lines.js");
  const { runTests } = await import("./run-tests.js");
  const lines = createHeldLines((line) => void process.stderr.write(`${line}\n`));
  const requirements = join(ROOT, "test", "clients", "python", "requirements.txt");
  const forStore = { ...process.env, ...(await withSetupLock(() => prepareStoreTools(lines))) };
  const forStacks = withSetupLock(() => prepareStackTools(lines, requirements));
  const forAll = forStacks.then((variables) => ({ ...forStore, ...variables }));
  // At once: who has ended the tests waits for no tool that is still being fetched.
  process.exit(await runTests(ROOT, process.argv.slice(2), { forStore, forAll }, lines));
});
