import type { Answer, AnswerContext, RequestBody } from "../client-protocol.ts";
import { createToolNames } from "../conversation/convert-request.ts";
import { ConversationRequest } from "../conversation/request.ts";
import { MessagesAnswer } from "./answer.ts";
import { type IdGenerator, randomIds } from "./ids.ts";
import {
  type ParsedMessagesRequest,
  parseRequestBody,
  type RequestPurpose,
} from "./request/parse-request.ts";

export interface MessagesRequestOptions {
  readonly purpose: RequestPurpose;
  /** Random ids when left out. */
  readonly ids?: IdGenerator;
}

/** A client's Messages request. */
export class MessagesRequest extends ConversationRequest<ParsedMessagesRequest> {
  readonly protocol = "messages";
  readonly #ids: IdGenerator;

  /** @throws GatewayError 400 naming the field and what was expected. */
  constructor(body: RequestBody, { purpose, ids = randomIds }: MessagesRequestOptions) {
    super(parseRequestBody(body, purpose));
    this.#ids = ids;
  }

  protected override answer(content: ParsedMessagesRequest, context: AnswerContext): Answer {
    const { model } = context;
    return new MessagesAnswer({
      model: model.id,
      stream: content.stream,
      thinking: content.thinking,
      carriesReasoning: model.profile.reasoningHistory !== "drop",
      stopSequences: new Set(content.stopSequences),
      toolNames: createToolNames(content, model),
      estimatedInputTokens: context.estimatedInputTokens,
      requestId: context.requestId,
      describeCost: context.describeCost ?? null,
      ids: this.#ids,
    });
  }
}
