/**
 * OpenAI's Responses protocol in front of an upstream that speaks Chat Completions, without state: nothing is stored
 * between requests, and what would need it is refused. The request is read once into checked parts (`request/`); the
 * answer, whole or chunk by chunk, goes through one translator (`stream/`).
 *
 * What changes the meaning of a request and cannot be represented is a 400 that names the field; hints and telemetry are
 * dropped; what Codex and the SDKs send by default is never refused. docs/responses.md has the rules that clients notice.
 *
 * Pure: no network, no state beyond one exchange; ids come from a generator that a test can pin. It never holds back
 * what an upstream has sent, unless the protocol's order demands it, and never more than a bounded amount.
 */
import type { Translation } from "../client-protocol.ts";
import { readPromptText } from "../conversation/prompt-text.ts";
import { ResponsesRequest } from "./request.ts";

/** `POST /v1/responses/compact`. */
const compaction: Translation = {
  upstreamPath: "/chat/completions",
  parseRequest: (body) => new ResponsesRequest(body, "compact"),
  counting: null,
};

export const responsesToChat: Translation = {
  upstreamPath: "/chat/completions",
  parseRequest: (body) => new ResponsesRequest(body, "answer"),
  compaction,
  // `POST /v1/responses/input_tokens`: the same request, never streamed.
  counting: {
    upstream: null,
    *readPrompt(body, model) {
      const upstreamBody = new ResponsesRequest(body, "input_tokens").toUpstream(model);
      yield;
      return yield* readPromptText(upstreamBody);
    },
    formatCount: (tokens) => ({ object: "response.input_tokens", input_tokens: tokens }),
  },
};
