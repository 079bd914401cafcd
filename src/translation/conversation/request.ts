import { GatewayError } from "../../errors.ts";
import type {
  Answer,
  AnswerContext,
  ClientRequest,
  ModelTarget,
  PromptSize,
  ProtocolName,
} from "../client-protocol.ts";
import { formatJson } from "../json/exact-json.ts";
import { convertRequest } from "./convert-request.ts";
import { measurePrompt } from "./measure-prompt.ts";
import type { ParsedRequest } from "./parsed-request.ts";

/** A client's request in a protocol that is translated: its conversation goes to the upstream as chat messages. */
export abstract class ConversationRequest<Content extends ParsedRequest> implements ClientRequest {
  abstract readonly protocol: ProtocolName;
  readonly model: string;
  readonly stream: boolean;
  readonly maxOutputTokens: number | null;
  readonly endUser: string | null;
  readonly serviceTier: string | null;
  readonly choices = 1;
  readonly prompts = 1;
  readonly promptTokens = null;
  /** Let go when the answer begins: a stream may last for minutes, and a conversation may have megabytes. */
  #content: Content | null;
  #promptSize: PromptSize | null = null;

  constructor(content: Content) {
    this.model = content.model;
    this.stream = content.stream;
    this.maxOutputTokens = content.maxTokens;
    this.endUser = content.userId;
    this.serviceTier = content.serviceTier?.toLowerCase() ?? null;
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
    return this.answer(content, context);
  }

  protected abstract answer(content: Content, context: AnswerContext): Answer;

  #requireContent(): Content {
    if (this.#content !== null) return this.#content;
    throw new GatewayError("internal_error", { cause: new Error("the request's body was let go") });
  }
}
