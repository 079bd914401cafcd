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

const RETAINED_FIELDS: ReadonlySet<string> = new Set(["stop_sequences", "tools", "metadata"]);

type Retained = Pick<AnswerSettings, "thinking" | "stopSequences" | "toolNames">;

export class MessagesRequest extends ConversationRequest<ParsedMessagesRequest, Retained> {
  readonly protocol = "messages";
  readonly #ids: IdGenerator;

  /** @throws GatewayError 400 naming the field and what was expected. */
  constructor(body: RequestBody, purpose: RequestPurpose, ids: IdGenerator = randomIds) {
    super(parseRequestBody(body, purpose), measureFields(body, RETAINED_FIELDS));
    this.#ids = ids;
  }

  protected override retain(content: ParsedMessagesRequest, model: ModelTarget): Retained {
    const { thinking, stopSequences } = content;
    return {
      thinking,
      stopSequences: new Set(stopSequences),
      toolNames: createToolNames(content, model),
    };
  }

  protected override answer(retained: Retained, context: AnswerContext): Answer {
    const { model } = context;
    return new MessagesAnswer({
      model: model.id,
      stream: this.stream,
      ...retained,
      thinkTags: model.profile.thinkTags,
      carriesReasoning: model.profile.reasoningHistory !== "drop",
      estimatedInputTokens: context.estimatedInputTokens,
      requestId: context.requestId,
      describeCost: context.describeCost ?? null,
      ids: this.#ids,
    });
  }
}
