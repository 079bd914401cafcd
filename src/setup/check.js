/**
 * `npm run check`: what must hold before a commit, in under a minute: format, lint, types, files and exports that nobody
 * uses, unit tests. All of them run,
 * so that one round shows all there is to do.
 */
import { join } from "node:path";
import { runStep } from "./run-step.js";

await runStep(async () => {
  const { spawnSync } = await import("node:child_process");
  const { ensurePackages } = await import("./packages.js");
  const { ROOT, withSetupLock } = await import("./prepare.js");
  await withSetupLock(() => ensurePackages(ROOT));
  const bin = join(ROOT, "node_modules", ".bin");
  /** @type {readonly (readonly [string, readonly string[]])[]} */
  const steps = [
    ["oxfmt", ["--check", "."]],
    ["oxlint", ["--deny-warnings"]],
    ["tsc", ["-p", ".", "--noEmit"]],
    ["knip", []],
    ["vitest", ["run", "--project", "unit"]],
  ];
  const failed = steps.filter(([tool, args]) => {
    process.stdout.write(`\n> ${tool} ${args.join(" ")}\n`);
    return spawnSync(join(bin, tool), args, { cwd: ROOT, stdio: "inherit" }).status !== 0;
  });
  const names = failed.map(([tool]) => tool).join(", ");
  process.stdout.write(failed.length === 0 ? "\nAll checks passed.\n" : `\nFailed: ${names}\n`);
  process.exitCode = failed.length === 0 ? 0 : 1;
});
