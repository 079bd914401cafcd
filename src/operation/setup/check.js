/**
 * `npm run check`: checks before a commit: format, lint, types, unused files and exports, unit tests. Every
 * step runs, so that one round shows all problems. A second round takes less than a minute on two cores:
 * unchanged results come from node_modules/.cache, and types are linted in changed files only. With `CI` set,
 * no cache is used and everything is linted.
 */
import { join } from "node:path";
import { runStep } from "./run-step.js";

/**
 * @typedef {{tool: string, args: readonly string[], note?: string}} Step
 */

const TYPED_LINT = ["--deny-warnings", "--type-aware", "--no-error-on-unmatched-pattern"];

await runStep(async () => {
  const { ensureNodeSdks, ensurePackages, hasNodeSdks, NODE_SDKS } = await import("./packages.js");
  const { generateMessages } = await import("./messages.js");
  const { ROOT, withSetupLock } = await import("./prepare.js");
  const { listChangedSources } = await import("./changed-sources.js");
  const changed = process.env["CI"] === undefined ? await listChangedSources(ROOT) : null;
  const checksClients =
    changed === null || changed.files.some((file) => file.startsWith(NODE_SDKS)) || hasNodeSdks(ROOT);
  await withSetupLock(async () => {
    await ensurePackages(ROOT);
    await generateMessages(ROOT);
    if (checksClients) await ensureNodeSdks(ROOT);
  });
  const startedAtMs = performance.now();
  // Tests use both cores; the other steps run one after another while tests wait.
  const rows = [
    planQuickSteps(changed, checksClients ? [{ tool: "tsc", args: ["-p", NODE_SDKS] }] : []),
    [{ tool: "vitest", args: ["run", "--project", "unit", "--reporter=minimal"] }],
  ];
  if (!checksClients) {
    process.stdout.write(
      `skipped  tsc -p ${NODE_SDKS} (nothing there differs, and its SDKs are not installed)\n`,
    );
  }
  const failed = (await Promise.all(rows.map((steps) => runInOrder(ROOT, steps)))).flat();
  const seconds = formatSeconds(performance.now() - startedAtMs);
  const result = failed.length === 0 ? "All checks passed" : `Failed: ${failed.join(", ")};`;
  process.stdout.write(`\n${result} in ${seconds}\n`);
  process.exitCode = failed.length === 0 ? 0 : 1;
});

/**
 * Returns all steps but the tests.
 *
 * @param {{base: string, files: readonly string[]} | null} changed Null: everything counts as changed.
 * @param {readonly Step[]} clientTypes
 * @returns {readonly Step[]}
 */
function planQuickSteps(changed, clientTypes) {
  const format = { tool: "oxfmt", args: ["--check", "."] };
  const types = [{ tool: "tsc", args: ["-p", "."] }, ...clientTypes];
  if (changed === null) {
    return [format, { tool: "oxlint", args: TYPED_LINT }, ...types, { tool: "knip", args: [] }];
  }
  const note = `${changed.files.length} files that differ from ${changed.base}; CI lints types in all files`;
  return [
    format,
    { tool: "oxlint", args: ["--deny-warnings"] },
    ...(changed.files.length > 0 ? [{ tool: "oxlint", args: [...TYPED_LINT, ...changed.files], note }] : []),
    ...types,
    { tool: "knip", args: ["--cache"] },
  ];
}

/**
 * Prints one line for each step once it has ended, and the output of failed steps.
 *
 * @param {string} root
 * @param {readonly Step[]} steps
 * @returns {Promise<readonly string[]>} names of the tools that failed
 */
async function runInOrder(root, steps) {
  const { runCommand } = await import("./run-command.js");
  const env = process.stdout.isTTY ? { ...process.env, FORCE_COLOR: "1" } : process.env;
  const failed = [];
  for (const { tool, args, note } of steps) {
    const startedAtMs = performance.now();
    const command = join(root, "node_modules", ".bin", tool);
    const { code, stdout, stderr } = await runCommand(command, args, { cwd: root, env });
    const seconds = formatSeconds(performance.now() - startedAtMs).padStart(7);
    const options = args.filter((arg) => arg.startsWith("-"));
    const description =
      note === undefined ? [tool, ...args].join(" ") : `${tool} ${options.join(" ")} (${note})`;
    process.stdout.write(`${code === 0 ? "passed" : "FAILED"} ${seconds}  ${description}\n`);
    if (code === 0) continue;
    failed.push(tool);
    process.stdout.write(`\n${stdout}${stderr}\n`);
  }
  return failed;
}

/**
 * @param {number} milliseconds
 * @returns {string}
 */
function formatSeconds(milliseconds) {
  return `${(milliseconds / 1000).toFixed(1)} s`;
}
