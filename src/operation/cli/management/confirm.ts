import { ask, canAsk } from "../terminal/ask.ts";
import { CommandError, UsageError } from "./command-error.ts";

/**
 * Asks at a terminal whether that is meant; elsewhere wants `--yes`.
 * @param what A sentence that names what it will do.
 * @throws CommandError when the answer is no, UsageError when nobody can be asked.
 */
export async function confirm(what: string, { yes }: { readonly yes?: true }): Promise<void> {
  if (yes === true) return;
  if (!canAsk()) {
    throw new UsageError(`${what} Pass --yes to confirm.`);
  }
  const answer = await ask(`${what}\nContinue? [y/N] `);
  if (!/^y(?:es)?$/i.test(answer.trim())) throw new CommandError("Nothing was changed.");
}
