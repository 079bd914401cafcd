#!/usr/bin/env node
/** The program `inference-gateway`. What it can do is in cli/program.ts. */
import { enableCompileCache } from "node:module";
import { fileURLToPath } from "node:url";
import { runProgram } from "./operation/cli/run-program.ts";
import { isStackCommand } from "./operation/cli/stack-program.ts";
import { packageFile } from "./shared/host/package-files.ts";

// What a process has compiled, lazily compiled functions included, the next one reads: a worker's first thousand requests
// cost a tenth less CPU. The directory is the package's own: whoever can write there can change the program as well. If
// this process can't, as in an image, Node goes without.
enableCompileCache(fileURLToPath(packageFile(".cache/compiled")));

// A reader that goes early, such as `head`, ends a command quietly. A stack goes on: stdout is only its log.
if (!isStackCommand(process.argv)) {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(0);
    throw error;
  });
}

const exitCode = await runProgram(process.argv);
if (exitCode !== null) process.exit(exitCode);
