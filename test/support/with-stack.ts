import { rmSync } from "node:fs";
import { afterAll, afterEach, beforeAll } from "vitest";
import { type Stack, type StackOptions, START_TIMEOUT_MS, startStack } from "./stack.ts";

/** One file's first failures say enough. */
const PRINTED_FAILURES = 3;

/**
 * One stack for all tests of a file: starts it before them, stops it after them, and prints its logs beside a test that
 * failed. Options may be a function, for what is only known once the file's own `beforeAll` has run.
 */
export function withStack(options: StackOptions | (() => StackOptions | Promise<StackOptions>)): () => Stack {
  let stack: Stack | null = null;
  const getStack = showingLogs(async () => {
    stack = await startStack(typeof options === "function" ? await options() : options);
    return stack;
  });
  afterAll(async () => {
    await stack?.stop();
  }, 60_000);
  return getStack;
}

/** Has the stack end with the process, which vitest tells to end when no file is left for it. */
export function endWithProcess(stack: Stack): void {
  process.once("SIGTERM", () => {
    try {
      rmSync(stack.dir, { recursive: true, force: true });
    } finally {
      // What the stack has started ends with its launcher, which is this process.
      process.kill(process.pid, "SIGKILL");
    }
  });
}

/** Starts, or finds, the stack of a file before its tests, and prints its logs beside a test that failed. */
export function showingLogs(start: () => Promise<Stack>): () => Stack {
  let stack: Stack | null = null;
  let printed = 0;
  beforeAll(async () => {
    stack = await start();
  }, START_TIMEOUT_MS);
  afterEach((context) => {
    if (context.task.result?.state !== "fail" || stack === null || printed >= PRINTED_FAILURES) return;
    printed += 1;
    process.stderr.write(`--- the stack, ${context.task.name} ---\n${stack.readLogs()}\n`);
  });
  return () => {
    if (stack === null) throw new Error("the stack is used before it was started");
    return stack;
  };
}
