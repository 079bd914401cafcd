/** Completion for fish 3.0 and newer. Starts no program. */
import { type CommandNode, listCommands, listSteps, type OptionNode } from "./command-tree.ts";

export function renderFish(tree: CommandNode): string {
  const all = listCommands(tree);
  const steps = listSteps(all).map(
    ({ step, to }) => `      case ${quote(step)}\n        set path ${quote(to)}`,
  );
  return `# Completion of ${tree.name} for fish: source it, or put it into ~/.config/fish/completions/${tree.name}.fish
# Whether the words before the cursor lead to a command; with --next, whether they end there.
function __inference_gateway_at
  set -l wanted $argv[1]
  set -l words (commandline -opc)
  set -e words[1]
  set -l path ""
  while set -q words[1]
    switch "$path/$words[1]"
${steps.join("\n")}
      case '*'
        break
    end
    set -e words[1]
  end
  test "$path" = "$wanted"; and begin
    test "$argv[2]" != --next; or not set -q words[1]
  end
end
complete -c ${tree.name} -f
${all.flatMap((node) => [...renderNext(tree.name, node), ...node.options.map((option) => renderOption(tree.name, node, option))]).join("\n")}
`;
}

function renderNext(program: string, node: CommandNode): string[] {
  const condition = quote(`__inference_gateway_at ${quote(node.path)} --next`);
  const line = (word: string, description: string) =>
    `complete -c ${program} -n ${condition} -a ${quote(word)}${description === "" ? "" : ` -d ${quote(description)}`}`;
  return [
    ...node.commands.map(({ name, description }) => line(name, description)),
    ...node.argumentChoices.map((choice) => line(choice, "")),
  ];
}

function renderOption(program: string, node: CommandNode, option: OptionNode): string {
  const { names, description, value, choices } = option;
  const flags = names.map((name) => (name.startsWith("--") ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`));
  const follows = {
    choices: ` -x -a ${quote(choices.join(" "))}`,
    file: " -r -F",
    folder: " -x -a '(__fish_complete_directories)'",
    other: " -x",
  };
  const condition = quote(`__inference_gateway_at ${quote(node.path)}`);
  const text = description === "" ? "" : ` -d ${quote(description)}`;
  return `complete -c ${program} -n ${condition} ${flags.join(" ")}${value === null ? "" : follows[value]}${text}`;
}

/** Quotes for fish: only a quote and a backslash are special in single quotes. */
function quote(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
