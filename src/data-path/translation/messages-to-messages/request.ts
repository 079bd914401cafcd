import { readMaxTokens } from "../messages-to-chat/request/parse-request.ts";
import { isJsonObject } from "../../../shared/text/json-object.ts";
import type { Answer, AnswerContext, RequestBody } from "../client-protocol.ts";
import { readMessagesTools } from "../fields/server-tools.ts";
import { readOptionalBoolean } from "../json/read-field.ts";
import { withAcceptedBlockIds } from "../pass-through/call-ids.ts";
import { withoutOwnThinking } from "../pass-through/own-carriers.ts";
import { PassThroughRequest, readUser } from "../pass-through/request.ts";
import { MessagesAnswer } from "./answer.ts";
import { readPrompt } from "./request/read-prompt.ts";

const LIMIT_NAMES = ["max_tokens"];

/** Removes content that the upstream would reject: the gateway's own reasoning, and ids of other models' calls. */
export function forUpstream(body: RequestBody): RequestBody {
  return withAcceptedBlockIds(withoutOwnThinking(body));
}

/** A client's Messages request to an upstream that speaks Messages. */
export class MessagesRequest extends PassThroughRequest {
  readonly protocol = "messages";
  protected override readonly readPrompt = readPrompt;

  /** @throws GatewayError 400 naming the field and what was expected. */
  constructor(body: RequestBody, purpose: "answer" | "count_tokens") {
    const { max_tokens: maxTokens, stream, metadata } = body.value;
    const isCount = purpose === "count_tokens";
    super(forUpstream(body), {
      stream: !isCount && (readOptionalBoolean(stream, "stream") ?? false),
      endUser: isJsonObject(metadata) ? readUser(metadata["user_id"]) : null,
      serverTools: readMessagesTools(body.value),
      maxOutputTokens: isCount ? null : readMaxTokens(maxTokens, 0),
    });
  }

  override limitNames(): readonly string[] {
    return LIMIT_NAMES;
  }

  protected override answer(_retained: null, context: AnswerContext): Answer {
    return new MessagesAnswer(this.answerOptions(context));
  }
}
