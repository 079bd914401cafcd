import type { JsonObject } from "../../../shared/text/json-object.ts";
import type { Answer } from "../client-protocol.ts";
import { ChoicesAnswer, type ChoicesAnswerOptions } from "../openai/choices-answer.ts";
import { playStream } from "./response/play-completion.ts";

interface CompletionsAnswerOptions extends Omit<ChoicesAnswerOptions, "describeCost"> {
  /** Returns the characters of the prompt that precede the text of a choice. */
  readonly echoCharacters: (choice: unknown) => number;
}

/** Creates the answer of a completion request, which passes through. */
export function createCompletionsAnswer({ echoCharacters, ...options }: CompletionsAnswerOptions): Answer {
  /** Choices whose echo has passed. */
  const echoed = new Set<unknown>();
  /**
   * Removes the echo of the prompt, with which servers begin the first piece of a choice, to leave the generated text.
   */
  const readChoice = (choice: JsonObject): JsonObject => {
    const { text, index } = choice;
    const characters = echoCharacters(index);
    if (characters === 0 || typeof text !== "string" || echoed.has(index)) return choice;
    echoed.add(index);
    return { ...choice, text: text.slice(characters) };
  };
  return new ChoicesAnswer(
    { ...options, describeCost: null },
    // The generated part of a choice depends on earlier chunks, so each chunk must be parsed.
    { name: "completions", readChoice, usesTemplates: false, play: playStream },
  );
}
