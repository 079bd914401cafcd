/**
 * Anthropic's Messages protocol before an upstream that speaks it itself. A request and its answer pass byte for byte
 * but for the model's name: cache marks, thinking signatures, server tools, documents, pings, events and fields that
 * nobody here knows. The gateway reads what it needs to hold and to charge, and nothing else: the upstream checks.
 *
 * It must never change a value that it does not have to know, let two readings of one body differ in the model or in a
 * limit, or throw out of a stream that has begun.
 */
import { oneStep } from "../../../shared/event-loop/steps.ts";
import type { ModelTarget, RequestBody, Translation } from "../client-protocol.ts";
import { createCountBody } from "../pass-through/request.ts";
import { forUpstream, MessagesRequest } from "./request.ts";

const createBody = (body: RequestBody, model: ModelTarget) =>
  createCountBody("messages", forUpstream(body), model);

export const messagesToMessages: Translation = {
  upstreamPath: "/messages",
  forwardedHeaders: ["anthropic-version", "anthropic-beta"],
  forwardedQuery: ["beta=true"],
  parseRequest: (body) => new MessagesRequest(body, "answer"),
  counting: {
    upstream: { upstreamPath: "/messages/count_tokens", createBody },
    readPrompt: (body) => oneStep(() => new MessagesRequest(body, "count_tokens").promptText()),
    formatCount: (tokens) => ({ input_tokens: tokens }),
  },
};
