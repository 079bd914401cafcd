import type { Answer, AnswerContext, ModelTarget, RequestBody } from "../client-protocol.ts";
import { createToolNames } from "../conversation/convert-request.ts";
import { ConversationRequest } from "../conversation/request.ts";
import { measureFields } from "../json/measure-memory.ts";
import type { AnswerSettings } from "./answer-settings.ts";
import { MessagesAnswer } from "./answer.ts";
import { type IdGenerator, randomIds } from "./ids.ts";
import {
  type ParsedMessagesRequest,
  parseRequestBody,
  type RequestPurpose,
} from "./request/parse-request.ts";

const KEPT_FIELDS: ReadonlySet<string> = new Set(["stop_sequences", "tools", "metadata"]);

type Kept = Pick<AnswerSettings, "thinking" | "stopSequences" | "toolNames">;

/** A client's Messages request. */
export class MessagesRequest extends ConversationRequest<ParsedMessagesRequest, Kept> {
  readonly protocol = "messages";
  readonly #ids: IdGenerator;

  /** @throws GatewayError 400 naming the field and what was expected. */
  constructor(body: RequestBody, purpose: RequestPurpose, ids: IdGenerator = randomIds) {
    super(parseRequestBody(body, purpose), measureFields(body, KEPT_FIELDS));
    this.#ids = ids;
  }

  protected override keep(content: ParsedMessagesRequest, model: ModelTarget): Kept {
    const { thinking, stopSequences } = content;
    return {
      thinking,
      stopSequences: new Set(stopSequences),
      toolNames: createToolNames(content, model),
    };
  }

  protected override answer(kept: Kept, context: AnswerContext): Answer {
    const { model } = context;
    return new MessagesAnswer({
      model: model.id,
      stream: this.stream,
      ...kept,
      thinkTags: model.profile.thinkTags,
      carriesReasoning: model.profile.reasoningHistory !== "drop",
      estimatedInputTokens: context.estimatedInputTokens,
      requestId: context.requestId,
      describeCost: context.describeCost ?? null,
      ids: this.#ids,
    });
  }
}
