/**
 * OpenAI's Responses protocol for an upstream that speaks Chat Completions, without state: nothing is stored between
 * requests, and stateful fields are rejected. The request is parsed once (`request/`); a whole answer and a stream
 * share one translator (`stream/`).
 *
 * Fields that change the meaning of a request and cannot be represented return 400 naming the field; hints and
 * telemetry are dropped; fields that Codex and the SDKs send by default are never rejected. docs/responses.md has
 * the rules that clients notice.
 *
 * Pure: no network, no state beyond one exchange; ids come from a generator that tests replace. Holds back upstream
 * output only if the protocol's order requires it, and never more than a bounded amount.
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
