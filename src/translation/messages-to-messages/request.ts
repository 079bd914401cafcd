import { isJsonObject } from "../../json-object.ts";
import type { Answer, AnswerContext, RequestBody } from "../client-protocol.ts";
import { invalidField, missingField } from "../json/field-error.ts";
import { readOptionalBoolean, readOptionalInteger } from "../json/read-field.ts";
import type { PromptParts } from "../pass-through/prompt-parts.ts";
import { PassThroughRequest, readUser } from "../pass-through/request.ts";
import { MessagesAnswer } from "./answer.ts";
import { readPrompt } from "./request/read-prompt.ts";

/** A client's Messages request to an upstream that speaks Messages. */
export class MessagesRequest extends PassThroughRequest {
  readonly protocol = "messages";

  /** @throws GatewayError 400 naming the field and what was expected. */
  constructor(body: RequestBody, purpose: "answer" | "count_tokens") {
    const { max_tokens: maxTokens, stream, metadata } = body.value;
    const isCount = purpose === "count_tokens";
    super(body, {
      stream: !isCount && (readOptionalBoolean(stream, "stream") ?? false),
      endUser: isJsonObject(metadata) ? readUser(metadata["user_id"]) : null,
      maxOutputTokens: isCount ? null : readMaxTokens(maxTokens),
    });
  }

  protected override readPrompt(body: RequestBody): PromptParts {
    return readPrompt(body);
  }

  protected override answer(
    _body: RequestBody,
    { model, requestId, describeCost = null }: AnswerContext,
  ): Answer {
    return new MessagesAnswer({
      protocol: "messages",
      model: model.id,
      stream: this.stream,
      requestId,
      describeCost,
    });
  }
}

/** 0 warms a cache: the upstream knows whether it has one. */
function readMaxTokens(value: unknown): number {
  const maxTokens = readOptionalInteger(value, "max_tokens");
  if (maxTokens === null) throw missingField("max_tokens");
  if (maxTokens < 0) throw invalidField("max_tokens", "Input should be greater than or equal to 0");
  return maxTokens;
}
