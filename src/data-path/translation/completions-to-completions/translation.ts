/**
 * OpenAI's legacy completions: a prompt instead of a conversation. What a client sends goes on as it is, and so does the
 * answer; only the model's name changes, the wish for usage in a stream, and usage that the client did not wish for.
 * Pure, so no outage of Redis or Envoy reaches it.
 */
import type { Translation } from "../client-protocol.ts";
import { CompletionsRequest } from "./request.ts";

export const completionsToCompletions: Translation = {
  upstreamPath: "/completions",
  parseRequest: (body) => new CompletionsRequest(body),
  counting: null,
};
