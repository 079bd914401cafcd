/**
 * OpenAI's embeddings: what a client sends goes on as it is but for the model's name, and so does the answer. It reads
 * how many prompts there are and nothing of what they say; an answer's numbers are never parsed. Pure, so no outage of
 * Redis or Envoy reaches it.
 */
import type { Translation } from "../client-protocol.ts";
import { EmbeddingsRequest } from "./request.ts";

export const embeddingsToEmbeddings: Translation = {
  upstreamPath: "/embeddings",
  parseRequest: (body) => new EmbeddingsRequest(body),
  counting: null,
};
