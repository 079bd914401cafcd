import type {
  Answer,
  AnswerContext,
  ClientRequest,
  ModelTarget,
  PromptSize,
  RequestBody,
} from "../client-protocol.ts";
import type { JsonBody } from "../json/parse-body.ts";
import { EXPECTED_PROMPTS, measurePrompts, type Prompts } from "../openai/prompts.ts";
import { invalid, missing, readAskedServiceTier, readEndUser } from "../openai/request-fields.ts";
import { createUpstreamBody } from "../openai/upstream-body.ts";
import { EmbeddingsAnswer } from "./answer.ts";

/** Those that no body may give in two ways. */
export const EMBEDDINGS_FIELDS: ReadonlySet<string> = new Set(["model", "input", "messages"]);

/** A client's embeddings request; its upstream form differs in the model's name only. */
export class EmbeddingsRequest implements ClientRequest {
  readonly protocol = "embeddings";
  readonly model: string;
  readonly stream = false;
  /** Nothing is generated. */
  readonly maxOutputTokens = 0;
  readonly choices = 1;
  readonly prompts: number;
  readonly promptTokens: number | null;
  readonly serviceTier: string | null;
  readonly endUser: string | null;
  readonly #body: JsonBody;
  readonly #hasMedia: boolean;

  /** @throws GatewayError 400 naming the field and what was expected. */
  constructor(body: RequestBody) {
    this.model = body.model;
    this.endUser = readEndUser(body.value);
    this.serviceTier = readAskedServiceTier(body.value);
    const { count, tokens, hasMedia } = readInput(body);
    this.prompts = count;
    this.promptTokens = tokens;
    this.#hasMedia = hasMedia;
    this.#body = body;
  }

  promptSize(): PromptSize {
    const textBytes = Buffer.byteLength(this.#body.text);
    return { textBytes, messages: 0, hasMedia: this.#hasMedia, hasTools: false, predictionBytes: 0 };
  }

  toUpstream(model: ModelTarget): Uint8Array {
    return createUpstreamBody(this.#body, { model: model.upstreamModel, stream: null });
  }

  createAnswer({ model }: AnswerContext): Answer {
    return new EmbeddingsAnswer(model.id);
  }
}

function readInput({ value }: JsonBody): Prompts {
  const { input, messages } = value;
  // vLLM embeds conversations too, images in them included.
  if (input === undefined && Array.isArray(messages)) return { count: 1, tokens: null, hasMedia: true };
  if (input === undefined) throw missing("input", EXPECTED_PROMPTS);
  const prompts = measurePrompts(input);
  if (prompts === null) throw invalid("input", EXPECTED_PROMPTS, input);
  return prompts;
}
