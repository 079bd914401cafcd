import { GatewayError } from "../../errors.ts";
import type { Answer, AnswerContext, ClientRequest, ModelTarget, PromptSize } from "../client-protocol.ts";
import { convertRequest, createToolNames } from "../conversation/convert-request.ts";
import { measurePrompt } from "../conversation/measure-prompt.ts";
import { formatJson } from "../json/exact-json.ts";
import { ResponsesAnswer } from "./answer.ts";
import { type CreateId, createRandomIds } from "./ids.ts";
import {
  type ParsedResponsesRequest,
  parseRequestBody,
  type RequestPurpose,
} from "./request/parse-request.ts";

export interface ResponsesRequestOptions {
  readonly purpose: RequestPurpose;
  /** Random ids when left out. */
  readonly createId?: CreateId;
}

/** A client's Responses request. */
export class ResponsesRequest implements ClientRequest {
  readonly protocol = "responses";
  readonly model: string;
  readonly stream: boolean;
  readonly maxOutputTokens: number | null;
  readonly choices = 1;
  readonly #createId: CreateId;
  /** Let go when the answer begins: a stream may last for minutes, and a conversation may have megabytes. */
  #content: ParsedResponsesRequest | null;
  #promptSize: PromptSize | null = null;

  /** @throws GatewayError 400 naming the field and what was expected. */
  constructor(bytes: Uint8Array, options: ResponsesRequestOptions) {
    const content = parseRequestBody(bytes, options.purpose);
    this.model = content.model;
    this.stream = content.stream;
    this.maxOutputTokens = content.maxTokens;
    this.#createId = options.createId ?? createRandomIds;
    this.#content = content;
  }

  /** Not callable for the first time after `createAnswer`. */
  promptSize(): PromptSize {
    this.#promptSize ??= measurePrompt(this.#requireContent());
    return this.#promptSize;
  }

  /**
   * Not callable after `createAnswer`.
   * @throws GatewayError 400 where the model's profile cannot represent the request.
   */
  toUpstream(model: ModelTarget): Uint8Array {
    return Buffer.from(formatJson(convertRequest(this.#requireContent(), model)), "utf8");
  }

  /** Callable once. */
  createAnswer(context: AnswerContext): Answer {
    const content = this.#requireContent();
    this.#content = null;
    const { model, nowMs } = context;
    return new ResponsesAnswer({
      model: model.id,
      stream: content.stream,
      reasoning: content.reasoning,
      carriesReasoning: content.wantsCarrier && model.profile.reasoningHistory !== "drop",
      toolNames: createToolNames(content, model),
      toolTable: content.toolTable,
      toldBack: content.toldBack,
      estimatedInputTokens: context.estimatedInputTokens,
      createdAt: toSeconds(nowMs()),
      now: () => toSeconds(nowMs()),
      requestId: context.requestId,
      createId: this.#createId,
    });
  }

  #requireContent(): ParsedResponsesRequest {
    if (this.#content !== null) return this.#content;
    throw new GatewayError("internal_error", { cause: new Error("the request's body was let go") });
  }
}

function toSeconds(ms: number): number {
  return Math.floor(ms / 1000);
}
