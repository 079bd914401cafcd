#!/usr/bin/env node
/** The program `inference-gateway`. What it can do is in cli/program.ts. */
import { enableCompileCache } from "node:module";
import { fileURLToPath } from "node:url";
import { runProgram } from "./operation/cli/run-program.ts";
import { isStackCommand } from "./operation/cli/stack-program.ts";
import { packageFile } from "./shared/host/package-files.ts";

// Caches compiled code, including lazily compiled functions, for later processes: a worker's first thousand
// requests cost 10 % less CPU. The directory belongs to the package: anyone who can write there can change
// the program as well. In a read-only image, Node works without the cache.
enableCompileCache(fileURLToPath(packageFile(".cache/compiled")));

// A reader that exits early, such as `head`, ends a command quietly. A stack continues: stdout is only its
// log.
if (!isStackCommand(process.argv)) {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(0);
    throw error;
  });
}

const exitCode = await runProgram(process.argv);
if (exitCode !== null) process.exit(exitCode);
