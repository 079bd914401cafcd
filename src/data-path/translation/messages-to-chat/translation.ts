/**
 * Anthropic's Messages protocol for an upstream that speaks Chat Completions. The request is parsed once (`request/`),
 * the answer is translated as a whole (`response/`) or chunk by chunk (`stream/`).
 *
 * Fields that change the meaning of a request and cannot be represented return 400 naming the field; hints, cache
 * marks and telemetry are dropped; fields that clients send by default are never rejected. docs/messages.md has the
 * rules that clients notice.
 *
 * Pure: no clock, no network, no state beyond one exchange; ids come from a generator that tests replace. Holds back
 * upstream output only if the protocol's order requires it, and never more than a bounded amount.
 */
import type { Translation } from "../client-protocol.ts";
import { readPromptText } from "../conversation/prompt-text.ts";
import { MessagesRequest } from "./request.ts";

export const messagesToChat: Translation = {
  upstreamPath: "/chat/completions",
  parseRequest: (body) => new MessagesRequest(body, "answer"),
  // `POST /v1/messages/count_tokens`: the same request without `max_tokens`, never streamed.
  counting: {
    upstream: null,
    *readPrompt(body, model) {
      const upstreamBody = new MessagesRequest(body, "count_tokens").toUpstream(model);
      yield;
      return yield* readPromptText(upstreamBody);
    },
    formatCount: (tokens) => ({ input_tokens: tokens }),
  },
};
