import type { ChoicesProtocol } from "../openai/choices-answer.ts";
import { playStream } from "./response/play-completion.ts";

/** How a chat completion answers, which is passed through. */
export const CHAT: ChoicesProtocol = {
  name: "chat",
  readChoice: (choice) => choice,
  learns: true,
  play: playStream,
};
