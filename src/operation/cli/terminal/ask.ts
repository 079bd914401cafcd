/**
 * Questions to the person at the terminal. They go to stderr: stdout is what the command prints.
 *
 * There are two of them, a line and a secret. Packages for prompts (`@inquirer/prompts`, `prompts`) are for choices,
 * lists and forms: they hold the terminal in raw mode for a plain line as well, and redraw it.
 */
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

const ENTER = ["\r", "\n"];
const END_OF_INPUT = "\u0004";
const INTERRUPT = "\u0003";
const ERASE = ["\u007f", "\b"];

/** What is typed or pasted up to Enter, none of it shown. */
export async function askSecret(question: string): Promise<string> {
  const { stdin, stderr } = process;
  // Raw before it asks: the terminal would show what is typed at once.
  stdin.setRawMode(true);
  try {
    stderr.write(question);
    return await readSecret(stdin);
  } finally {
    stdin.setRawMode(false);
    stdin.pause();
    stderr.write("\n");
  }
}

function readSecret(input: NodeJS.ReadStream): Promise<string> {
  let typed = "";
  return new Promise((resolve) => {
    const finish = (secret: string): void => {
      input.off("data", take);
      resolve(secret.trim());
    };
    const take = (chunk: string): void => {
      for (const character of chunk) {
        if (ENTER.includes(character) || character === END_OF_INPUT) return finish(typed);
        if (character === INTERRUPT) {
          finish("");
          process.kill(process.pid, "SIGINT");
          return;
        }
        typed = ERASE.includes(character) ? typed.slice(0, -1) : typed + character;
      }
    };
    input.setEncoding("utf8").on("data", take);
    input.once("end", () => finish(typed));
  });
}
