import type { ChoicesProtocol } from "../openai/choices-answer.ts";
import { playStream } from "./response/play-completion.ts";

/** Answers of chat completions that pass through. */
export const CHAT: ChoicesProtocol = {
  name: "chat",
  readChoice: (choice) => choice,
  usesTemplates: true,
  play: playStream,
};
