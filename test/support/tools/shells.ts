import { findOnPath } from "../../../src/operation/setup/find-executable.ts";
import type { ToolContext } from "../../../src/operation/setup/tool-context.ts";
import { installDebianPackages } from "./debian-packages.ts";

/** Those that have completions besides bash, by the names of their programs and of Debian's packages. */
const SHELLS = ["zsh", "fish"];

/**
 * Sees that the shells whose completions are tested are on PATH: Debian's packages where this user may install them.
 * Where one stays away its tests are skipped, and a notice says so; everything else is tested without it.
 */
export async function prepareShells(context: ToolContext): Promise<void> {
  const listMissing = () => SHELLS.filter((shell) => findOnPath(shell, context.env) === null);
  const wanted = listMissing();
  if (wanted.length === 0) return;
  const reason = await installDebianPackages(context, wanted);
  const missing = listMissing();
  if (missing.length === 0) return;
  context.notice(
    `There is no ${missing.join(", no ")} (${reason ?? "what was installed is not on PATH"}): the tests of its completion are skipped. ` +
      `Install ${missing.join(" and ")}.`,
  );
}
