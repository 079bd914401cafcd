/**
 * `completion <shell>`: prints a script generated from the commands.
 * Commander has no completion. Packages that add it (`omelette`, `tabtab` and their successors) install a
 * short script that runs the program at each press of Tab, which starts Node each time. Here all completions
 * are known beforehand, so the script contains them and starts nothing.
 */
import { Argument, type Command } from "commander";
import { addExamples } from "../management/management-command.ts";
import { renderBash } from "./bash.ts";
import { readCommandTree } from "./command-tree.ts";
import { renderFish } from "./fish.ts";
import { renderZsh } from "./zsh.ts";

const SHELLS = { bash: renderBash, zsh: renderZsh, fish: renderFish } as const;
type Shell = keyof typeof SHELLS;

export function addCompletionCommand(program: Command): void {
  const command = program
    .command("completion")
    .description("Print the completion script for a shell.")
    .addArgument(new Argument("<shell>", "bash, zsh or fish").choices(Object.keys(SHELLS)))
    .action((shell: Shell) => {
      process.stdout.write(SHELLS[shell](readCommandTree(program)));
    });
  addExamples(command, [
    "completion bash > ~/.local/share/bash-completion/completions/inference-gateway",
    "completion zsh > ~/.zfunc/_inference-gateway",
    "completion fish > ~/.config/fish/completions/inference-gateway.fish",
  ]);
}
