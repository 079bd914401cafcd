import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isExecutable } from "../../../src/operation/setup/find-executable.ts";
import { findTool } from "../../../src/operation/setup/find-tool.ts";
import { installWheel } from "../../../src/operation/setup/python.ts";
import { SetupError } from "../../../src/operation/setup/setup-error.js";
import type { Tool, ToolContext } from "../../../src/operation/setup/tool-context.ts";

const INSTEAD = "install a C compiler (Debian: gcc and libc6-dev) as `cc`, or name it in CC.";

/** Zig's C compiler, with the C library's headers; 100 MB, so only where there is no other. */
const WHEEL = {
  requirement: "ziglang==0.17.1",
  hashes: [
    // manylinux_2_12 x86_64, manylinux_2_17 aarch64
    "ea6cc5d87b033cf0aedfbc8f9549a908cae6c50ac31f1698188fa48a74524b54",
    "b7c5f02fccd40f89b999ee16a1f5ddced56e6182370f8affe494bcf8a28cf07e",
  ],
  instead: INSTEAD,
};
const WHEEL_FOLDER = "zig-0.17.1";

/**
 * The C compiler of the tests, which preload a clock into Redis: CC, else `cc` on PATH, else what an earlier run
 * installed, else the PyPI wheel, into this clone's own `.tools`. Null off Linux, where nothing is preloaded.
 *
 * @throws {SetupError} one sentence that says what to install
 */
export async function ensureCompiler(context: ToolContext): Promise<Tool | null> {
  if (context.platform !== "linux") return null;
  const found = await findTool(context, {
    variable: "CC",
    programs: ["cc"],
    check: async (path) => ((await compiles(context, path)) ? null : "is not a C compiler that works here"),
    installed: [{ source: "wheel", path: () => wrapper(context), install: () => installZig(context) }],
  });
  if (typeof found !== "string") return found;
  throw new SetupError(`There is no C compiler (${found}): ${INSTEAD}`);
}

const wrapper = (context: ToolContext) => join(context.toolsDir, WHEEL_FOLDER, "cc");

/** Zig is a compiler by its first argument; a program of its own is what is named. */
async function installZig(context: ToolContext): Promise<null> {
  const program = join(context.toolsDir, WHEEL_FOLDER, "ziglang", "zig");
  if (!isExecutable(program)) await installWheel(context, WHEEL_FOLDER, WHEEL);
  writeFileSync(wrapper(context), `#!/bin/sh\nexec '${program}' cc "$@"\n`, { mode: 0o755 });
  return null;
}

/** Whether it makes a shared library that uses the C library's headers. */
async function compiles(context: ToolContext, path: string): Promise<boolean> {
  mkdirSync(context.toolsDir, { recursive: true });
  const source = join(context.toolsDir, "compiler-check.c");
  writeFileSync(source, "#include <time.h>\n#include <unistd.h>\ntime_t t(void) { return time(0); }\n");
  const args = ["-shared", "-fPIC", "-o", `${source}.so`, source];
  const { code } = await context.run(path, args, { timeoutMs: 180_000 });
  return code === 0;
}
