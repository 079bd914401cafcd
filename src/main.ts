#!/usr/bin/env node
/** The program `inference-gateway`. What it can do is in cli/program.ts. */
import { runProgram } from "./cli/run-program.ts";
import { isStackCommand } from "./cli/stack-program.ts";

// A reader that goes early, such as `head`, ends a command quietly. A stack goes on: stdout is only its log.
if (!isStackCommand(process.argv)) {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(0);
    throw error;
  });
}

const exitCode = await runProgram(process.argv);
if (exitCode !== null) process.exit(exitCode);
