/**
 * `completion <shell>`: a script, made of the commands that there are.
 *
 * Commander has no completion. The packages that add one (`omelette`, `tabtab` and their successors) leave a short script
 * that starts the program at each press of Tab and asks it what fits: a start of Node and of this program each time. What
 * fits here is known beforehand, so the script has it and starts nothing.
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
