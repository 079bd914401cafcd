/**
 * Questions to the user at the terminal, on stderr: stdout is for the command's output.
 * Only two kinds, a line and a secret. Prompt packages (`@inquirer/prompts`, `prompts`) are for choices,
 * lists and forms: they use raw mode even for a plain line, and redraw it.
 */
import { createInterface } from "node:readline";

/** Returns whether a user can be asked: both input and output are a terminal. */
export function isInteractive(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

/** Asks for a line; '' at the end of the input. Ctrl-C ends the program. */
export function prompt(question: string): Promise<string> {
  process.stderr.write(question);
  // Uses the terminal's own line editing: without raw mode Ctrl-C stays a signal.
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

/** Asks for input up to Enter without echo. */
export async function promptForSecret(question: string): Promise<string> {
  const { stdin, stderr } = process;
  // Raw mode comes before the question: otherwise the terminal would echo early input.
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
