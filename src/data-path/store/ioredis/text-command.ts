import { Command } from "ioredis";

const AS_TEXT = { replyEncoding: "utf8" } as const;
/** RESP length lines by number of bytes, prepared once because a request writes about forty of them. */
const LENGTH_LINES = Array.from({ length: 1_024 }, (_, bytes) => formatLengthLine(bytes));

/**
 * Command whose arguments and reply are all text. ioredis's own class searches the arguments for lists and
 * non-text values and computes the bytes of each while writing, which is half the cost of sending a command.
 */
export class TextCommand extends Command {
  constructor(name: string, given: string[]) {
    super(name, [], AS_TEXT);
    this.args = given;
  }

  /** Formats as RESP: an array of strings, each preceded by its length in bytes. */
  override toWritable(): string {
    const text = this.#format((argument) => argument.length);
    // Nearly every command is ASCII, which one length comparison shows.
    return Buffer.byteLength(text) === text.length
      ? text
      : this.#format((argument) => Buffer.byteLength(argument));
  }

  #format(bytesOf: (argument: string) => number): string {
    const given = this.args as string[];
    let text = `*${given.length + 1}${formatLengthLine(this.name.length)}${this.name}`;
    for (const argument of given) {
      const bytes = bytesOf(argument);
      text += (LENGTH_LINES[bytes] ?? formatLengthLine(bytes)) + argument;
    }
    return `${text}\r\n`;
  }
}

function formatLengthLine(bytes: number): string {
  return `\r\n$${bytes}\r\n`;
}
