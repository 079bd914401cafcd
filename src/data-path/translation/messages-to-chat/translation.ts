/**
 * Anthropic's Messages protocol in front of an upstream that speaks Chat Completions. The request is read once into
 * checked parts (`request/`), the answer is translated whole (`response/`) or chunk by chunk (`stream/`).
 *
 * What changes the meaning of a request and cannot be represented is a 400 that names the field; hints, cache marks and
 * telemetry are dropped; what clients send by default is never refused. docs/messages.md has the rules that clients notice.
 *
 * Pure: no clock, no network, no state beyond one exchange; ids come from a generator that a test can pin. It never
 * holds back what an upstream has sent, unless the protocol's order demands it, and never more than a bounded amount.
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
