import type { Answer, ModelTarget } from "../../../../src/data-path/translation/client-protocol.ts";
import type { ModelProfile } from "../../../../src/shared/contract/model-profile.ts";
import { parseWith } from "../../../support/parse-with.ts";

const profile: ModelProfile = {
  maxTokensField: "max_tokens",
  passthroughFields: [],
  reasoningEfforts: [],
  reasoningHistory: "drop",
  promptCacheKey: false,
  thinkTags: "none",
  topK: "forward",
  images: true,
  files: true,
  maxStop: null,
  toolNameMax: null,
  systemMid: "fold",
  prefill: "plain",
  continuousUsage: false,
  streamOptions: "forward",
  userField: "user",
};

export function createModel(changes: Partial<ModelProfile> = {}): ModelTarget {
  return {
    id: "acme/chat",
    upstreamModel: "Org/Chat-32B",
    maxOutputTokens: 1_000_000,
    profile: { ...profile, ...changes },
  };
}

/** The answer's reader of a request with these fields besides model and messages. */
export function createAnswer(fields: object = {}, model: ModelTarget = createModel()): Answer {
  const body = { model: "acme/chat", messages: [{ role: "user", content: "hi" }], ...fields };
  const request = parseWith("chat", Buffer.from(JSON.stringify(body)));
  request.toUpstream(model);
  return request.createAnswer({ model, estimatedInputTokens: 7, nowMs: () => 0, requestId: "req_1" });
}

/** Everything a stream puts out when it gets these pieces and then ends. */
export function streamThrough(
  answer: Answer,
  pieces: readonly (string | Uint8Array)[],
): { text: string; final: boolean; failedCode: string | null } {
  const outputs = pieces.map((piece) => answer.push(typeof piece === "string" ? Buffer.from(piece) : piece));
  outputs.push(answer.end());
  const last = outputs.at(-1);
  return {
    text: Buffer.concat(outputs.map(({ bytes }) => bytes)).toString("utf8"),
    final: last?.final ?? false,
    failedCode: last?.failed?.code ?? null,
  };
}

/** A chunk of an upstream as text, without its framing. */
export function createChunk(delta: object, rest: { finish?: string; extra?: object } = {}): string {
  return JSON.stringify({
    id: "c1",
    object: "chat.completion.chunk",
    created: 1,
    model: "Org/Chat-32B",
    choices: [{ index: 0, delta, finish_reason: rest.finish ?? null }],
    ...rest.extra,
  });
}

export const USAGE_CHUNK =
  '{"id":"c1","object":"chat.completion.chunk","created":1,"model":"Org/Chat-32B","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":4,"total_tokens":13}}';
