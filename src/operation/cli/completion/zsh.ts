/** Completion for zsh, by its own completion system. Starts no program. */
import { type CommandNode, listCommands, listSteps, type OptionNode, quoteWord } from "./command-tree.ts";

export function renderZsh(tree: CommandNode): string {
  const all = listCommands(tree);
  return `#compdef ${tree.name}
# Completion of ${tree.name} for zsh: source it behind compinit, or put it as _${tree.name} into a folder of fpath
_inference_gateway() {
  local command_path="" at=2 kind="" current="$words[CURRENT]" before="$words[CURRENT-1]"
  local -a next flags choices
  while (( at < CURRENT )); do
    case "$command_path/$words[at]" in
${listSteps(all)
  .map(({ step, to }) => `      ${quoteWord(step)}) command_path=${quoteWord(to)} ;;`)
  .join("\n")}
      *) break ;;
    esac
    (( at++ ))
  done
  case "$command_path $before" in
${all.flatMap((node) => node.options.map((option) => renderValue(node, option))).join("")}  esac
  case "$kind" in
    choices) compadd -- $choices; return ;;
    file) _files; return ;;
    folder) _files -/; return ;;
    other) _message value; return 1 ;;
  esac
  case "$command_path" in
${all.map(renderWords).join("\n")}
  esac
  if (( at == CURRENT )) && [[ "$current" != -* ]] && (( $#next )); then
    _describe command next
  else
    _describe -o option flags
  fi
}
if [[ "$funcstack[1]" = _inference_gateway || "$funcstack[1]" = _${tree.name} ]]; then
  _inference_gateway "$@"
else
  compdef _inference_gateway ${tree.name}
fi
`;
}

function renderValue(node: CommandNode, { names, value, choices }: OptionNode): string {
  if (value === null) return "";
  const patterns = names.map((name) => quoteWord(`${node.path} ${name}`)).join("|");
  return `    ${patterns}) kind=${value} choices=(${choices.map(quoteWord).join(" ")}) ;;\n`;
}

function renderWords(node: CommandNode): string {
  const next = [
    ...node.commands.map(({ name, description }) => describe(name, description)),
    ...node.argumentChoices.map(quoteWord),
  ];
  const options = node.options.flatMap(({ names, description }) =>
    names.filter((name) => name.startsWith("--")).map((name) => describe(name, description)),
  );
  return `    ${quoteWord(node.path)})
      next=(${next.join(" ")})
      flags=(${options.join(" ")}) ;;`;
}

/** Formats an entry for _describe: name, colon, description. */
function describe(name: string, description: string): string {
  return quoteWord(`${name}:${description}`);
}
