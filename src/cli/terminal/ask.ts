/** Questions to the person at the terminal. They go to stderr: stdout is what the command prints. */
import { createInterface } from "node:readline";

/** Whether there is somebody to ask: both what they type and what they read is a terminal. */
export function canAsk(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

/** The line that is typed; '' at the end of the input. Ctrl-C ends the program. */
export function ask(question: string): Promise<string> {
  process.stderr.write(question);
  // The terminal's own line editing: no raw mode, so that Ctrl-C is the signal that it always is.
  const lines = createInterface({ input: process.stdin, terminal: false });
  return new Promise((resolve) => {
    lines.once("line", (line) => {
      resolve(line);
      lines.close();
    });
    lines.once("close", () => resolve(""));
  });
}
