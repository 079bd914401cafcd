import type { Answer, AnswerContext, ModelTarget, RequestBody } from "../client-protocol.ts";
import { createToolNames } from "../conversation/convert-request.ts";
import { ConversationRequest } from "../conversation/request.ts";
import { measureOtherFields } from "../json/measure-memory.ts";
import type { AnswerSettings } from "./answer-settings.ts";
import { ResponsesAnswer } from "./answer.ts";
import { type CreateId, createRandomIds } from "./ids.ts";
import { parseRequestBody } from "./request/parse-request.ts";
import type { ParsedResponsesRequest, RequestPurpose } from "./request/parsed-request.ts";

/** Fields that are dropped: a response repeats nearly everything except the conversation. */
const RELEASED_FIELDS: ReadonlySet<string> = new Set(["input"]);

/** The answer of `compact` repeats the user's messages, so nothing is dropped. */
const NO_FIELDS: ReadonlySet<string> = new Set();

type Retained = Pick<
  AnswerSettings,
  "reasoning" | "carriesReasoning" | "toolNames" | "toolTable" | "compaction" | "repeatedFields"
>;

export class ResponsesRequest extends ConversationRequest<ParsedResponsesRequest, Retained> {
  readonly protocol = "responses";
  readonly #createId: CreateId;

  /** @throws GatewayError 400 naming the field and what was expected. */
  constructor(body: RequestBody, purpose: RequestPurpose, createId: CreateId = createRandomIds) {
    const released = purpose === "compact" ? NO_FIELDS : RELEASED_FIELDS;
    super(parseRequestBody(body, purpose), measureOtherFields(body, released));
    this.#createId = createId;
  }

  protected override retain(content: ParsedResponsesRequest, model: ModelTarget): Retained {
    const { reasoning, wantsCarrier, toolTable, compaction, repeatedFields } = content;
    return {
      reasoning,
      carriesReasoning: wantsCarrier && model.profile.reasoningHistory !== "drop",
      toolNames: createToolNames(content, model),
      toolTable,
      compaction,
      repeatedFields,
    };
  }

  protected override answer(retained: Retained, context: AnswerContext): Answer {
    const { model, nowMs } = context;
    return new ResponsesAnswer({
      model: model.id,
      stream: this.stream,
      ...retained,
      thinkTags: model.profile.thinkTags,
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
