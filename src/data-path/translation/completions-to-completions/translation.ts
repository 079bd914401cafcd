/**
 * OpenAI's legacy completions: a prompt instead of a conversation. Requests and answers are forwarded unchanged,
 * except the model's name, the request for usage in a stream, and usage that the client did not request. No state, so
 * failures of Redis or Envoy have no effect.
 */
import type { Translation } from "../client-protocol.ts";
import { CompletionsRequest } from "./request.ts";

export const completionsToCompletions: Translation = {
  upstreamPath: "/completions",
  parseRequest: (body) => new CompletionsRequest(body),
  counting: null,
};
