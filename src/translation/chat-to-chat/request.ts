import { GatewayError } from "../../errors.ts";
import type {
  Answer,
  AnswerContext,
  ClientRequest,
  ModelTarget,
  PromptSize,
  RequestBody,
} from "../client-protocol.ts";
import type { JsonBody } from "../json/parse-body.ts";
import { ChatAnswer } from "./answer.ts";
import { measurePrompt } from "./request/measure-prompt.ts";
import { type ChatFields, readChatFields } from "./request/read-fields.ts";
import { mapUsageVisibility } from "../openai/stream-options.ts";
import { createUpstreamBody } from "../openai/upstream-body.ts";

/** What is needed until the upstream's answer begins; let go then, since a stream may last for minutes. */
interface Content {
  readonly body: JsonBody;
  readonly messages: ChatFields["messages"];
}

/** A client's chat completion request; its upstream form differs in the model and the wish for usage only. */
export class ChatRequest implements ClientRequest {
  readonly protocol = "chat";
  readonly model: string;
  readonly stream: boolean;
  readonly maxOutputTokens: number | null;
  readonly endUser: string | null;
  readonly choices: number;
  readonly serviceTier: string | null;
  readonly prompts = 1;
  readonly promptTokens = null;
  readonly #streamOptions: ChatFields["streamOptions"];
  #content: Content | null;
  #promptSize: PromptSize | null = null;

  /** @throws GatewayError 400 naming the field and what was expected. */
  constructor(body: RequestBody) {
    const fields = readChatFields(body);
    this.model = body.model;
    this.stream = fields.stream;
    this.maxOutputTokens = fields.maxOutputTokens;
    this.endUser = fields.endUser;
    this.choices = fields.choices;
    this.serviceTier = fields.serviceTier;
    this.#streamOptions = fields.streamOptions;
    this.#content = { body, messages: fields.messages };
  }

  /** Not callable for the first time after `createAnswer`. */
  promptSize(): PromptSize {
    if (this.#promptSize === null) {
      const { body, messages } = this.#requireContent();
      this.#promptSize = measurePrompt(body, messages);
    }
    return this.#promptSize;
  }

  /** Not callable after `createAnswer`. */
  toUpstream(model: ModelTarget): Uint8Array {
    const { upstreamModel, profile } = model;
    const stream = this.stream ? { isContinuous: profile.continuousUsage } : null;
    return createUpstreamBody(this.#requireContent().body, { model: upstreamModel, stream });
  }

  createAnswer(context: AnswerContext): Answer {
    this.#content = null;
    const { model, requestId, describeCost = null } = context;
    // The cost stands in the usage, so who asks for it sees both.
    const options =
      describeCost === null ? this.#streamOptions : { ...this.#streamOptions, include_usage: true };
    return new ChatAnswer({
      model,
      stream: this.stream,
      usageVisibility: mapUsageVisibility(options, model.profile.continuousUsage),
      requestId,
      describeCost,
    });
  }

  #requireContent(): Content {
    if (this.#content !== null) return this.#content;
    throw new GatewayError("internal_error", { cause: new Error("the request's body was let go") });
  }
}
