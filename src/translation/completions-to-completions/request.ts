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
import { readAskedServiceTier, readEndUser } from "../openai/request-fields.ts";
import { mapUsageVisibility } from "../openai/stream-options.ts";
import { createUpstreamBody } from "../openai/upstream-body.ts";
import { CompletionsAnswer } from "./answer.ts";
import { type CompletionsFields, readCompletionsFields } from "./request/read-fields.ts";

/** A client's completion request; its upstream form differs in the model and the wish for usage only. */
export class CompletionsRequest implements ClientRequest {
  readonly protocol = "completions";
  readonly model: string;
  readonly stream: boolean;
  readonly maxOutputTokens: number | null;
  readonly choices: number;
  readonly prompts: number;
  readonly promptTokens: number | null;
  readonly serviceTier: string | null;
  readonly endUser: string | null;
  readonly #fields: CompletionsFields;
  /** Let go when the answer begins: a stream may last for minutes. */
  #body: JsonBody | null;

  /** @throws GatewayError 400 naming the field and what was expected. */
  constructor(body: RequestBody) {
    const fields = readCompletionsFields(body);
    this.model = body.model;
    this.endUser = readEndUser(body.value);
    this.serviceTier = readAskedServiceTier(body.value);
    this.stream = fields.stream;
    this.maxOutputTokens = fields.maxOutputTokens;
    this.prompts = fields.prompts.count;
    this.promptTokens = fields.prompts.tokens;
    this.choices = fields.prompts.count * fields.answersPerPrompt;
    this.#fields = fields;
    this.#body = body;
  }

  /** Not callable after `createAnswer`. */
  promptSize(): PromptSize {
    const textBytes = Buffer.byteLength(this.#requireBody().text);
    const { hasMedia } = this.#fields.prompts;
    return { textBytes, messages: 0, hasMedia, hasTools: false, predictionBytes: 0 };
  }

  /** Not callable after `createAnswer`. */
  toUpstream({ upstreamModel, profile }: ModelTarget): Uint8Array {
    const stream = this.stream ? { isContinuous: profile.continuousUsage } : null;
    return createUpstreamBody(this.#requireBody(), { model: upstreamModel, stream });
  }

  createAnswer({ model, requestId }: AnswerContext): Answer {
    this.#body = null;
    const { streamOptions, echo, choicesPerPrompt } = this.#fields;
    return new CompletionsAnswer({
      model: model.id,
      stream: this.stream,
      usageVisibility: mapUsageVisibility(streamOptions, model.profile.continuousUsage),
      echoCharacters: (choice) => (echo === null ? 0 : echoOf(echo, choice, choicesPerPrompt)),
      requestId,
    });
  }

  #requireBody(): JsonBody {
    if (this.#body !== null) return this.#body;
    throw new GatewayError("internal_error", { cause: new Error("the request's body was let go") });
  }
}

/** The choices of a prompt stand together, in the order of the prompts. */
function echoOf(lengths: readonly number[], choice: unknown, choicesPerPrompt: number): number {
  if (typeof choice !== "number") return Number.POSITIVE_INFINITY;
  return lengths[Math.floor(choice / choicesPerPrompt)] ?? Number.POSITIVE_INFINITY;
}
