/** Commands of a program as completions need them, read from the program itself so that nothing is defined twice. */
import type { Command, Option } from "commander";

/** Kind of an option's value or an argument. */
type ValueKind = "choices" | "file" | "folder" | "other";

export interface OptionNode {
  /** "--json", "-q" as typed. */
  readonly names: readonly string[];
  readonly description: string;
  /** Null: a flag without a value. */
  readonly value: ValueKind | null;
  readonly choices: readonly string[];
}

export interface CommandNode {
  /** "" for the program, "key rotate" for a command. */
  readonly path: string;
  /** Name as typed; an alias is a separate node. */
  readonly name: string;
  readonly description: string;
  readonly options: readonly OptionNode[];
  readonly commands: readonly CommandNode[];
  /** Choices of its first argument; empty for free text. */
  readonly argumentChoices: readonly string[];
}

const FOLDERS = new Set(["<dir>"]);
const FILES = new Set(["<file>"]);

/** Reads the tree without hidden commands and options. */
export function readCommandTree(
  command: Command,
  path: readonly string[] = [],
  name = command.name(),
): CommandNode {
  const help = command.createHelp();
  const visible = help.visibleCommands(command).filter((one) => one.name() !== "help");
  return {
    path: path.join(" "),
    name,
    description: firstSentence(help.subcommandDescription(command)),
    options: help.visibleOptions(command).map(readOption),
    commands: visible.flatMap((one) =>
      [one.name(), ...one.aliases()].map((typed) => readCommandTree(one, [...path, typed], typed)),
    ),
    argumentChoices: command.registeredArguments[0]?.argChoices ?? [],
  };
}

/** Lists every command, including groups and the program itself. */
export function listCommands(node: CommandNode): readonly CommandNode[] {
  return [node, ...node.commands.flatMap(listCommands)];
}

/** Lists which word leads from one command to another: "key/rotate" from "key" to "key rotate". */
export function listSteps(
  all: readonly CommandNode[],
): readonly { readonly step: string; readonly to: string }[] {
  return all.flatMap(({ path, commands }) =>
    commands.map((child) => ({ step: `${path}/${child.name}`, to: child.path })),
  );
}

function readOption(option: Option): OptionNode {
  const names = [option.short, option.long].filter((name) => name !== undefined);
  const takesValue = option.required || option.optional;
  return {
    names,
    description: firstSentence(option.description),
    value: takesValue ? kindOf(option) : null,
    choices: option.argChoices ?? [],
  };
}

function kindOf({ flags, argChoices }: Option): ValueKind {
  if (argChoices !== undefined) return "choices";
  const value = /<[^>]+>/.exec(flags)?.[0] ?? "";
  if (FILES.has(value)) return "file";
  return FOLDERS.has(value) ? "folder" : "other";
}

/** Returns the first sentence, for a line of a menu. */
function firstSentence(text: string): string {
  return /^.*?[^.](?=\.(?: |$)|$)/su.exec(text)?.[0].replaceAll(/\s+/g, " ") ?? "";
}

/** Quotes a word for POSIX shells and zsh. */
export function quoteWord(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
