#!/usr/bin/env node
/** The program `inference-gateway`. What it can do is in cli/program.ts. */
import { runProgram } from "./cli/run-program.ts";

const exitCode = await runProgram(process.argv);
if (exitCode !== null) process.exit(exitCode);
