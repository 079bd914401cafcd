import { GatewayError } from "../../errors.ts";
import { formatJson } from "../json/exact-json.ts";
import { type IdGenerator, randomIds } from "./ids.ts";
import type { Answer, AnswerContext, ClientRequest, ModelTarget, PromptSize } from "../client-protocol.ts";
import { MessagesAnswer } from "./answer.ts";
import { convertRequest, createToolNames } from "../conversation/convert-request.ts";
import { measurePrompt } from "../conversation/measure-prompt.ts";
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
export class MessagesRequest implements ClientRequest {
  readonly protocol = "messages";
  readonly model: string;
  readonly stream: boolean;
  readonly maxOutputTokens: number | null;
  readonly choices = 1;
  readonly #ids: IdGenerator;
  /** Let go when the answer begins: a stream may last for minutes, and a conversation may have megabytes. */
  #content: ParsedMessagesRequest | null;
  #promptSize: PromptSize | null = null;

  /** @throws GatewayError 400 naming the field and what was expected. */
  constructor(bytes: Uint8Array, options: MessagesRequestOptions) {
    const content = parseRequestBody(bytes, options.purpose);
    this.model = content.model;
    this.stream = content.stream;
    this.maxOutputTokens = content.maxTokens;
    this.#ids = options.ids ?? randomIds;
    this.#content = content;
  }

  /** Not callable for the first time after `createAnswer`. */
  promptSize(): PromptSize {
    this.#promptSize ??= measurePrompt(this.#requireContent());
    return this.#promptSize;
  }

  /**
   * Not callable after `createAnswer`.
   * @throws GatewayError 400 where the model's profile cannot represent the request.
   */
  toUpstream(model: ModelTarget): Uint8Array {
    return Buffer.from(formatJson(convertRequest(this.#requireContent(), model)), "utf8");
  }

  /** Callable once. */
  createAnswer(context: AnswerContext): Answer {
    const content = this.#requireContent();
    this.#content = null;
    return new MessagesAnswer({
      model: context.model.id,
      stream: content.stream,
      thinking: content.thinking,
      carriesReasoning: context.model.profile.reasoningHistory !== "drop",
      stopSequences: new Set(content.stopSequences),
      toolNames: createToolNames(content, context.model),
      estimatedInputTokens: context.estimatedInputTokens,
      requestId: context.requestId,
      ids: this.#ids,
    });
  }

  #requireContent(): ParsedMessagesRequest {
    if (this.#content !== null) return this.#content;
    throw new GatewayError("internal_error", { cause: new Error("the request's body was let go") });
  }
}
