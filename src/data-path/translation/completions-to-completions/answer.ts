import type { JsonObject } from "../../../shared/text/json-object.ts";
import type { Answer } from "../client-protocol.ts";
import { ChoicesAnswer, type ChoicesAnswerOptions } from "../openai/choices-answer.ts";
import { playStream } from "./response/play-completion.ts";

interface CompletionsAnswerOptions extends Omit<ChoicesAnswerOptions, "describeCost"> {
  /** Characters of the prompt that stand before the text of a choice. */
  readonly echoCharacters: (choice: unknown) => number;
}

/** The answer to one completion request, passed through. */
export function createCompletionsAnswer({ echoCharacters, ...options }: CompletionsAnswerOptions): Answer {
  /** Choices whose echo has passed. */
  const echoed = new Set<unknown>();
  /** What was generated: not an echo of the prompt, with which servers begin the first piece of a choice. */
  const readChoice = (choice: JsonObject): JsonObject => {
    const { text, index } = choice;
    const characters = echoCharacters(index);
    if (characters === 0 || typeof text !== "string" || echoed.has(index)) return choice;
    echoed.add(index);
    return { ...choice, text: text.slice(characters) };
  };
  return new ChoicesAnswer(
    { ...options, describeCost: null },
    // What a choice adds depends on what came before it.
    { name: "completions", readChoice, learns: false, play: playStream },
  );
}
