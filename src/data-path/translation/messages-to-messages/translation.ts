/**
 * Anthropic's Messages protocol for an upstream that speaks it. Requests and answers pass byte for byte except the
 * model's name: cache marks, thinking signatures, server tools, documents, pings, unknown events and fields. The
 * gateway only reads the data it needs for reservations and charges; the upstream validates.
 *
 * Invariants: change no value without need, leave no body whose model or limit can be read in two ways, and never
 * throw from a stream that has begun.
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
