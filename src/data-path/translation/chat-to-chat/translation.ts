/**
 * The OpenAI chat completion protocol, client side and upstream side alike: what a client sends goes on as it is, and
 * so does the answer. Only these change: the model's name (both ways), the wish for usage in a stream, and usage that
 * the client did not wish for.
 *
 * It must never change a value that it does not have to know, let two readings of one body differ in the model or in a
 * limit, throw out of a stream that has begun, or hold back a chunk that is complete. It waits for nothing and keeps
 * nothing between requests, so no outage of Redis or Envoy reaches it.
 */
import type { Translation } from "../client-protocol.ts";
import { ChatRequest } from "./request.ts";

export const chatToChat: Translation = {
  upstreamPath: "/chat/completions",
  parseRequest: (body) => new ChatRequest(body),
  counting: null,
};
