/**
 * OpenAI's Responses protocol before an upstream that speaks it itself. A request and its answer pass byte for byte but
 * for the model's name and `client_metadata`, by which Codex tells about its user. Requests for state are refused, as on upstreams that are translated to: what is generated after
 * an answer could not be charged, and what one client had stored another could ask for.
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
