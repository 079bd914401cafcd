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
  let printed = 0;
  beforeAll(async () => {
    stack = await startStack(typeof options === "function" ? await options() : options);
  }, START_TIMEOUT_MS);
  afterEach((context) => {
    if (context.task.result?.state !== "fail" || stack === null || printed >= PRINTED_FAILURES) return;
    printed += 1;
    process.stderr.write(`--- the stack, ${context.task.name} ---\n${stack.readLogs()}\n`);
  });
  afterAll(async () => {
    await stack?.stop();
  }, 60_000);
  return () => {
    if (stack === null) throw new Error("the stack is used before it was started");
    return stack;
  };
}
