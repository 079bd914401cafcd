import type { Answer, AnswerContext, ModelTarget, RequestBody } from "../client-protocol.ts";
import { createToolNames } from "../conversation/convert-request.ts";
import { ConversationRequest } from "../conversation/request.ts";
import { measureFieldsBeside } from "../json/measure-memory.ts";
import type { AnswerSettings } from "./answer-settings.ts";
import { ResponsesAnswer } from "./answer.ts";
import { type CreateId, createRandomIds } from "./ids.ts";
import { parseRequestBody } from "./request/parse-request.ts";
import type { ParsedResponsesRequest, RequestPurpose } from "./request/parsed-request.ts";

/** What stays of a body: a response repeats nearly all that stands beside the conversation. */
const LET_GO_FIELDS: ReadonlySet<string> = new Set(["input"]);

/** The answer of `compact` repeats what the user has said. */
const NO_FIELDS: ReadonlySet<string> = new Set();

type Kept = Pick<
  AnswerSettings,
  "reasoning" | "carriesReasoning" | "toolNames" | "toolTable" | "compaction" | "toldBack"
>;

/** A client's Responses request. */
export class ResponsesRequest extends ConversationRequest<ParsedResponsesRequest, Kept> {
  readonly protocol = "responses";
  readonly #createId: CreateId;

  /** @throws GatewayError 400 naming the field and what was expected. */
  constructor(body: RequestBody, purpose: RequestPurpose, createId: CreateId = createRandomIds) {
    const letGo = purpose === "compact" ? NO_FIELDS : LET_GO_FIELDS;
    super(parseRequestBody(body, purpose), measureFieldsBeside(body, letGo));
    this.#createId = createId;
  }

  protected override keep(content: ParsedResponsesRequest, model: ModelTarget): Kept {
    const { reasoning, wantsCarrier, toolTable, compaction, toldBack } = content;
    return {
      reasoning,
      carriesReasoning: wantsCarrier && model.profile.reasoningHistory !== "drop",
      toolNames: createToolNames(content, model),
      toolTable,
      compaction,
      toldBack,
    };
  }

  protected override answer(kept: Kept, context: AnswerContext): Answer {
    const { model, nowMs } = context;
    return new ResponsesAnswer({
      model: model.id,
      stream: this.stream,
      ...kept,
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
