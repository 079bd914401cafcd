import { join } from "node:path";
import { checkTypes, ensureBuild } from "../../../src/operation/setup/build.js";
import { ensureNodeSdks, ensurePackages } from "../../../src/operation/setup/packages.js";
import { withSetupLock } from "../../../src/operation/setup/prepare.js";
import { ALL_NEEDS, FIRST_NEEDS, listNeeds, type Need } from "../tools/needs.ts";
import { prepareTools } from "../tools/test-tools.ts";
import { createHeldLines } from "./held-lines.ts";
import { runTests, type TestTools } from "./run-tests.ts";
import { listNamedFiles, listSelectedFiles } from "./selected-files.ts";

/**
 * What `npm test` does: prepares what the tests need, and runs them. It is loaded before there are npm packages, so that
 * programs are fetched while npm installs.
 *
 * @param root The repository.
 * @param args For vitest; none: all tests.
 * @returns Exit code.
 */
export async function runAll(root: string, args: readonly string[]): Promise<number> {
  const lines = createHeldLines((line) => void process.stderr.write(`${line}\n`));
  const prepare = (listWanted: (packages: Promise<void>) => Promise<readonly Need[]>) =>
    withSetupLock(async () => {
      const packages = ensurePackages(root);
      const clone = {
        build: () => packages.then(() => ensureBuild(root)).then(() => undefined),
        checkTypes: () => packages.then(() => checkTypes(root)),
        installNodeSdks: (progress: (line: string) => void) => ensureNodeSdks(root, progress),
        requirementsFile: join(root, "test", "clients", "python", "requirements.txt"),
      };
      const preparing = listWanted(packages).then((needs) => prepareTools(needs, lines, clone));
      const [variables] = await Promise.all([preparing, packages]);
      return { ...process.env, ...variables };
    });
  const tools = args.length === 0 ? await prepareForAll(prepare) : await prepareFor(root, args, prepare);
  return runTests(root, args, tools, lines);
}

type Prepare = (
  listWanted: (packages: Promise<void>) => Promise<readonly Need[]>,
) => Promise<NodeJS.ProcessEnv>;

/** What only tests of whole stacks need is fetched while the first tests run. */
async function prepareForAll(prepare: Prepare): Promise<TestTools> {
  const forStore = await prepare(() => Promise.resolve(FIRST_NEEDS));
  const forStacks = prepare(() => Promise.resolve(ALL_NEEDS));
  return { forStore, forAll: forStacks.then((env) => ({ ...forStore, ...env })) };
}

/** What the selected files need, and nothing else. */
async function prepareFor(root: string, args: readonly string[], prepare: Prepare): Promise<TestTools> {
  const env = await prepare(async (packages) => {
    const named = listNamedFiles(root, args);
    if (named !== null) return listNeeds(named);
    await packages;
    return listNeeds(await listSelectedFiles(root, args));
  });
  return { forStore: env, forAll: Promise.resolve(env) };
}
