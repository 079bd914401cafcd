/** Completion for bash 3.2 and newer. Needs no further package and starts no program. */
import { type CommandNode, listCommands, listSteps, type OptionNode, quoteWord } from "./command-tree.ts";

/** Renders the script. The command of a command line is the longest chain of command names at its start. */
export function renderBash(tree: CommandNode): string {
  const all = listCommands(tree);
  return `# Completion of ${tree.name} for bash: source it, or put it into ~/.local/share/bash-completion/completions/${tree.name}
_inference_gateway() {
  local current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" path="" at=1 words="" kind=""
  COMPREPLY=()
  while [ "$at" -lt "$COMP_CWORD" ]; do
    case "$path/\${COMP_WORDS[at]}" in
${listSteps(all)
  .map(({ step, to }) => `      ${quoteWord(step)}) path=${quoteWord(to)} ;;`)
  .join("\n")}
      *) break ;;
    esac
    at=$((at + 1))
  done
  case "$path $before" in
${all.flatMap((node) => node.options.map((option) => renderValue(node, option))).join("")}  esac
  case "$kind" in
    choices) COMPREPLY=($(compgen -W "$words" -- "$current")); return ;;
    file) local IFS=$'\n'; compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$current")); return ;;
    folder) local IFS=$'\n'; compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -d -- "$current")); return ;;
    other) return ;;
  esac
  case "$path" in
${all.map(renderWords).join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -F _inference_gateway ${tree.name}
`;
}

/** Completes the value of an option. */
function renderValue(node: CommandNode, { names, value, choices }: OptionNode): string {
  if (value === null) return "";
  const patterns = names.map((name) => quoteWord(`${node.path} ${name}`)).join("|");
  return `    ${patterns}) kind=${value} words=${quoteWord(choices.join(" "))} ;;\n`;
}

/** Completes subcommands or choices directly after the command's name, and options elsewhere or once one is started. */
function renderWords(node: CommandNode): string {
  const options = node.options.flatMap(({ names }) => names.filter((name) => name.startsWith("--")));
  const next = [...node.commands.map(({ name }) => name), ...node.argumentChoices];
  const words = quoteWord(options.join(" "));
  const first =
    next.length === 0
      ? ""
      : `[ "$at" -eq "$COMP_CWORD" ] && [ "\${current#-}" = "$current" ] && words=${quoteWord(next.join(" "))}`;
  return `    ${quoteWord(node.path)}) words=${words}${first === "" ? "" : `; ${first}`} ;;`;
}
