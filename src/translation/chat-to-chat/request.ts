import type { Answer, AnswerContext, ModelTarget, PromptSize, RequestBody } from "../client-protocol.ts";
import type { JsonBody } from "../json/parse-body.ts";
import { createChatAnswer } from "./answer.ts";
import { measurePrompt } from "./request/measure-prompt.ts";
import { type ChatFields, readChatFields } from "./request/read-fields.ts";
import { mapUsageVisibility } from "../openai/stream-options.ts";
import { createUpstreamBody } from "../openai/upstream-body.ts";
import { ReadRequest } from "../read-request.ts";

interface Content {
  readonly body: JsonBody;
  readonly fields: ChatFields;
}

/** A client's chat completion request; its upstream form differs in the model and the wish for usage only. */
export class ChatRequest extends ReadRequest<Content> {
  readonly protocol = "chat";

  /** @throws GatewayError 400 naming the field and what was expected. */
  constructor(body: RequestBody) {
    const fields = readChatFields(body);
    const { model } = body;
    const { stream, maxOutputTokens, endUser, serviceTier, choices } = fields;
    super({ model, stream, maxOutputTokens, endUser, serviceTier, choices }, { body, fields });
  }

  protected override measure({ body, fields }: Content): PromptSize {
    return measurePrompt(body, fields.messages);
  }

  protected override convert({ body }: Content, { upstreamModel, profile }: ModelTarget): Uint8Array {
    const stream = this.stream ? { isContinuous: profile.continuousUsage } : null;
    return createUpstreamBody(body, { model: upstreamModel, stream });
  }

  protected override answer({ fields: { streamOptions } }: Content, context: AnswerContext): Answer {
    const { model, requestId, describeCost = null } = context;
    // The cost stands in the usage, so who asks for it sees both.
    const options = describeCost === null ? streamOptions : { ...streamOptions, include_usage: true };
    return createChatAnswer({
      model: model.id,
      stream: this.stream,
      usageVisibility: mapUsageVisibility(options, model.profile.continuousUsage),
      requestId,
      describeCost,
    });
  }
}
