import type { Answer, AnswerContext, PromptSize, RequestBody } from "../client-protocol.ts";
import { measureFields } from "../json/measure-memory.ts";
import type { JsonBody } from "../json/parse-body.ts";
import { EXPECTED_PROMPTS, measurePrompts, type Prompts, sizeOfPrompts } from "../openai/prompts.ts";
import { invalid, missing, readRequestedTier, readEndUser } from "../openai/request-fields.ts";
import { createUpstreamBody } from "../openai/upstream-body.ts";
import { EmbeddingsAnswer } from "./answer.ts";
import { ReadRequest, type UpstreamTerms } from "../read-request.ts";

/** Fields that no body may repeat. */
export const EMBEDDINGS_FIELDS: ReadonlySet<string> = new Set(["model", "input", "messages"]);

const RETAINED_FIELDS: ReadonlySet<string> = new Set(["user", "safety_identifier"]);

const NOTHING_GENERATED = { names: [], tokens: null } as const;

interface Content {
  readonly body: JsonBody;
  readonly hasMedia: boolean;
}

/** A client's embeddings request, sent upstream as edited by `createUpstreamBody`. */
export class EmbeddingsRequest extends ReadRequest<Content, null> {
  readonly protocol = "embeddings";

  /** @throws GatewayError 400 naming the field and what was expected. */
  constructor(body: RequestBody) {
    const endUser = readEndUser(body.value);
    const serviceTier = readRequestedTier(body.value);
    const { count: prompts, tokens: promptTokens, hasMedia } = readInput(body);
    const { model } = body;
    const facts = { model, stream: false, maxOutputTokens: 0, endUser, serviceTier, prompts, promptTokens };
    super({ ...facts, retainedBytes: measureFields(body, RETAINED_FIELDS) }, { body, hasMedia });
  }

  override limitNames(): readonly string[] {
    return NOTHING_GENERATED.names;
  }

  protected override measure({ body, hasMedia }: Content): PromptSize {
    return sizeOfPrompts(body, hasMedia);
  }

  protected override convert({ body }: Content, { model, isStrict }: UpstreamTerms): Uint8Array {
    const { protocol } = this;
    return createUpstreamBody(body, { protocol, model, stream: null, limit: NOTHING_GENERATED, isStrict });
  }

  protected override retain(): null {
    return null;
  }

  protected override answer(_retained: null, { model }: AnswerContext): Answer {
    return new EmbeddingsAnswer(model.id);
  }
}

function readInput({ value }: JsonBody): Prompts {
  const { input, messages } = value;
  // vLLM also embeds conversations, including images.
  if (input === undefined && Array.isArray(messages)) return { count: 1, tokens: null, hasMedia: true };
  if (input === undefined) throw missing("input", EXPECTED_PROMPTS);
  const prompts = measurePrompts(input);
  if (prompts === null) throw invalid("input", EXPECTED_PROMPTS, input);
  return prompts;
}
