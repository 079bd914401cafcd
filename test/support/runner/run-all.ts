import { join } from "node:path";
import { prepareStackTools, prepareStoreTools } from "../tools/test-tools.ts";
import { createHeldLines } from "./held-lines.ts";
import { runTests } from "./run-tests.ts";

/**
 * What `npm test` does once the packages are there and the product is built. What only whole stacks need is fetched while
 * tests of units and of the store run.
 *
 * @param root The repository.
 * @param args For vitest.
 * @param withSetupLock Runs what no other set-up on this clone may run beside.
 * @returns Exit code.
 */
export async function runAll(
  root: string,
  args: readonly string[],
  withSetupLock: <Result>(work: () => Promise<Result>) => Promise<Result>,
): Promise<number> {
  const lines = createHeldLines((line) => void process.stderr.write(`${line}\n`));
  const requirements = join(root, "test", "clients", "python", "requirements.txt");
  const forStore = { ...process.env, ...(await withSetupLock(() => prepareStoreTools(lines))) };
  const forStacks = withSetupLock(() => prepareStackTools(lines, requirements));
  const forAll = forStacks.then((variables) => ({ ...forStore, ...variables }));
  return runTests(root, args, { forStore, forAll }, lines);
}
