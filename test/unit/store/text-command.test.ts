import { Command } from "ioredis";
import { describe, expect, it } from "vitest";
import { TextCommand } from "../../../src/data-path/store/ioredis/text-command.ts";

const written = {
  ASCII: ["abc", "12", "key:1"],
  nothing: [""],
  "no argument": [],
  "texts of more than one byte a letter": ["ключ", "sk-…abcd", "👋", "abc"],
  "a lone surrogate": ["\ud83d"],
  "line breaks": ["a\r\nb", "$3\r\n"],
  "a text longer than any length that is made before": ["x".repeat(5_000)],
};

describe("a command of texts", () => {
  it.each(Object.entries(written))("is written as ioredis writes it: %s", (_name, given) => {
    const command = new TextCommand("evalsha", [...given]);
    expect(command.toWritable()).toBe(new Command("evalsha", [...given]).toWritable(Buffer.alloc(0)));
  });

  it("answers with texts", async () => {
    const command = new TextCommand("evalsha", ["abc"]);
    command.resolve(Buffer.from("sk-…abcd"));
    await expect(command.promise).resolves.toBe("sk-…abcd");
  });
});
