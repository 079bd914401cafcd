import { Command } from "ioredis";

const AS_TEXT = { replyEncoding: "utf8" } as const;
/** What stands before an argument of so many bytes: made once, since a request writes some forty of them. */
const LENGTH_LINES = Array.from({ length: 1_024 }, (_, bytes) => formatLengthLine(bytes));

/**
 * A command all of whose arguments are texts, as is its reply. ioredis's own looks through the arguments for lists and for
 * what is no text, and asks for the bytes of each when it writes them: half of what it takes to send one.
 */
export class TextCommand extends Command {
  constructor(name: string, given: string[]) {
    super(name, [], AS_TEXT);
    this.args = given;
  }

  /** RESP: an array of strings, each with its length in bytes before it. */
  override toWritable(): string {
    const text = this.#format((argument) => argument.length);
    // Nearly every command is ASCII, which shows in the whole of it at once.
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
