/** Help texts are read as one list: imperative descriptions, options in one line. */
import type { Command } from "commander";
import { describe, expect, it } from "vitest";
import { createProgram } from "../../../src/operation/cli/program.ts";

interface Named {
  readonly name: string;
  readonly command: Command;
}

function listCommands(command: Command, path: readonly string[] = []): readonly Named[] {
  const inner = command.commands.flatMap((one) => listCommands(one, [...path, one.name()]));
  return path.length === 0 ? inner : [{ name: path.join(" "), command }, ...inner];
}

/** Internal: started by `serve` only, without help. */
const ALL = listCommands(createProgram()).filter(({ name }) => name !== "worker" && name !== "admin");

const MAX_OPTION_CHARACTERS = 150;
/** The verbs that descriptions begin with: one that is new is added here after it was read. */
const VERBS =
  /^(?:Accept|Add|Change|Check|Create|Delete|Explain|Export|Give|Increase|List|Manage|Permanently delete|Print|Raise|Recompute|Reject|Remove|Run|Send|Set|Show|Start|Store|Write)\b/;

describe("help", () => {
  it.each(ALL)("of `$name` begins with a verb in the imperative and is a sentence", ({ command }) => {
    expect(command.description()).toMatch(VERBS);
    expect(command.description()).toMatch(/\.$/);
  });

  it("of an option is one line without a full stop, and stands alone", () => {
    const wrong = ALL.flatMap(({ name, command }) =>
      command.options
        .map(({ flags, description }) => ({ flags, text: description, isHidden: description === "" }))
        .filter(({ text, isHidden }) => !isHidden && !isOneLine(text))
        .map(({ flags, text }) => `${name} ${flags}: ${text}`),
    );
    expect(wrong).toEqual([]);
  });
});

function isOneLine(text: string): boolean {
  const standsAlone = !/^(?:do not|tell them)$/.test(text);
  return standsAlone && text.length <= MAX_OPTION_CHARACTERS && !/[.\n]$/.test(text);
}
