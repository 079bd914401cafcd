/**
 * OpenAI chat completions on both sides. Requests and answers are forwarded unchanged, except the model's name (both
 * ways), the request for usage in a stream, and usage that the client did not request.
 *
 * Invariants: change no value without need, leave no body whose model or limit can be read in two ways, never throw
 * from a stream that has begun, and never hold back a complete chunk. There is no waiting and no state between
 * requests, so failures of Redis or Envoy have no effect.
 */
import type { Translation } from "../client-protocol.ts";
import { ChatRequest } from "./request.ts";

export const chatToChat: Translation = {
  upstreamPath: "/chat/completions",
  parseRequest: (body) => new ChatRequest(body),
  counting: null,
};
