/**
 * OpenAI's embeddings. Requests and answers are forwarded unchanged, except the model's name. Only the number of
 * prompts is read, not their content, and the numbers of an answer are never parsed. No state, so failures of Redis or
 * Envoy have no effect.
 */
import type { Translation } from "../client-protocol.ts";
import { EmbeddingsRequest } from "./request.ts";

export const embeddingsToEmbeddings: Translation = {
  upstreamPath: "/embeddings",
  parseRequest: (body) => new EmbeddingsRequest(body),
  counting: null,
};
