import type { Answer, AnswerContext, RequestBody } from "../client-protocol.ts";
import { createToolNames } from "../conversation/convert-request.ts";
import { ConversationRequest } from "../conversation/request.ts";
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
export class ResponsesRequest extends ConversationRequest<ParsedResponsesRequest> {
  readonly protocol = "responses";
  readonly #createId: CreateId;

  /** @throws GatewayError 400 naming the field and what was expected. */
  constructor(body: RequestBody, { purpose, createId = createRandomIds }: ResponsesRequestOptions) {
    super(parseRequestBody(body, purpose));
    this.#createId = createId;
  }

  protected override answer(content: ParsedResponsesRequest, context: AnswerContext): Answer {
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
      describeCost: context.describeCost ?? null,
      createId: this.#createId,
    });
  }
}

function toSeconds(ms: number): number {
  return Math.floor(ms / 1000);
}
