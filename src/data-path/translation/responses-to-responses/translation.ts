/**
 * OpenAI's Responses protocol for an upstream that speaks it. Requests and answers pass byte for byte, except the
 * model's name and `client_metadata`, in which Codex describes its user. Stateful requests are rejected, as for
 * translated upstreams: output generated after an answer could not be charged, and one client could request what
 * another had stored.
 */
import { oneStep } from "../../../shared/event-loop/steps.ts";
import type { ModelTarget, RequestBody, Translation } from "../client-protocol.ts";
import { createCountBody } from "../pass-through/request.ts";
import { forUpstream, ResponsesRequest } from "./request.ts";

const createBody = (body: RequestBody, model: ModelTarget) =>
  createCountBody("responses", forUpstream(body), model);

/** `POST /v1/responses/compact`. */
const compaction: Translation = {
  upstreamPath: "/responses/compact",
  parseRequest: (body) => new ResponsesRequest(body, "compact"),
  counting: null,
};

export const responsesToResponses: Translation = {
  upstreamPath: "/responses",
  parseRequest: (body) => new ResponsesRequest(body, "answer"),
  compaction,
  counting: {
    upstream: { upstreamPath: "/responses/input_tokens", createBody },
    readPrompt: (body) => oneStep(() => new ResponsesRequest(body, "input_tokens").promptText()),
    formatCount: (tokens) => ({ object: "response.input_tokens", input_tokens: tokens }),
  },
};
