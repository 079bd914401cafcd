import { readMaxOutputTokens } from "../responses-to-chat/request/parse-request.ts";
import type { RequestPurpose } from "../responses-to-chat/request/parsed-request.ts";
import type { Answer, AnswerContext, RequestBody } from "../client-protocol.ts";
import { readResponsesTools } from "../fields/server-tools.ts";
import { readOptionalBoolean } from "../json/read-field.ts";
import { withAcceptedItemIds } from "../pass-through/call-ids.ts";
import { withoutOwnItems } from "../pass-through/own-carriers.ts";
import { PassThroughRequest, readUser } from "../pass-through/request.ts";
import { refuseState } from "../responses-to-chat/request/refuse-state.ts";
import { ResponsesAnswer } from "./answer.ts";
import { readPrompt } from "./request/read-prompt.ts";
import { refuseReferences } from "./request/refuse-references.ts";
import { withoutField } from "../without-field.ts";

/**
 * Removes fields that are private to Codex (`client_metadata` describes its user's installation) and content that the
 * model server would reject.
 * @throws GatewayError 400
 */
export function forUpstream(body: RequestBody): RequestBody {
  return withAcceptedItemIds(withoutOwnItems(withoutField(body, "client_metadata")));
}

/** A client's Responses request to an upstream that speaks Responses. */
export class ResponsesRequest extends PassThroughRequest {
  readonly protocol = "responses";
  protected override readonly readPrompt = readPrompt;
  readonly #limitNames: readonly string[];

  /** @throws GatewayError 400 naming the field and what was expected. */
  constructor(body: RequestBody, purpose: RequestPurpose) {
    refuseState(body.value);
    refuseReferences(body);
    const maxOutputTokens = readMaxOutputTokens(body.value["max_output_tokens"]);
    const stream = readOptionalBoolean(body.value["stream"], "stream") ?? false;
    const { safety_identifier: safetyIdentifier, user } = body.value;
    const endUser = readUser(safetyIdentifier) ?? readUser(user);
    super(forUpstream(body), {
      stream: purpose === "answer" && stream,
      maxOutputTokens,
      endUser,
      serverTools: readResponsesTools(body.value),
    });
    this.#limitNames = purpose === "compact" ? [] : ["max_output_tokens"];
  }

  override limitNames(): readonly string[] {
    return this.#limitNames;
  }

  protected override answer(_retained: null, context: AnswerContext): Answer {
    return new ResponsesAnswer(this.answerOptions(context), context.nowMs);
  }
}
