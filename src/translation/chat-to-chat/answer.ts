import type { Answer } from "../client-protocol.ts";
import { ChoicesAnswer, type ChoicesAnswerOptions, type ChoicesProtocol } from "../openai/choices-answer.ts";
import { playStream } from "./response/play-completion.ts";

const CHAT: ChoicesProtocol = {
  name: "chat",
  readMessage: ({ message }) => message,
  readDelta: ({ delta }) => delta,
  textKey: "content",
  play: playStream,
};

/** The answer to one chat completion request, passed through. */
export function createChatAnswer(options: ChoicesAnswerOptions): Answer {
  return new ChoicesAnswer(options, CHAT);
}
