import { GatewayError } from "../../errors.ts";
import type {
  Answer,
  AnswerContext,
  ClientRequest,
  ModelTarget,
  PromptSize,
  ProtocolName,
  RequestBody,
} from "../client-protocol.ts";
import { createUpstreamBody } from "../openai/upstream-body.ts";
import { readServiceTier } from "../upstream/usage.ts";
import type { PromptParts } from "./prompt-parts.ts";

export interface PassThroughFields {
  readonly stream: boolean;
  readonly maxOutputTokens: number | null;
  readonly endUser: string | null;
}

/** A client's body with the upstream's name of the model; every other character stays. */
export function createBody(body: RequestBody, { upstreamModel }: ModelTarget): Uint8Array {
  return createUpstreamBody(body, { model: upstreamModel, stream: null });
}

/** What a client calls its user; null: it says nothing. */
export function readUser(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

/** A client's request to an upstream that speaks the same protocol: every byte goes on as it is, but for the model. */
export abstract class PassThroughRequest implements ClientRequest {
  abstract readonly protocol: ProtocolName;
  readonly model: string;
  readonly stream: boolean;
  readonly maxOutputTokens: number | null;
  readonly endUser: string | null;
  readonly choices = 1;
  readonly prompts = 1;
  readonly promptTokens = null;
  readonly serviceTier: string | null;
  /** Let go when the answer begins: a stream may last for minutes, and a conversation may have megabytes. */
  #body: RequestBody | null;
  #promptSize: PromptSize | null = null;

  constructor(body: RequestBody, { stream, maxOutputTokens, endUser }: PassThroughFields) {
    this.model = body.model;
    this.stream = stream;
    this.maxOutputTokens = maxOutputTokens;
    this.endUser = endUser;
    this.serviceTier = readServiceTier({ service_tier: body.value["service_tier"] });
    this.#body = body;
  }

  /** Not callable for the first time after `createAnswer`. */
  promptSize(): PromptSize {
    this.#promptSize ??= this.readPrompt(this.#requireBody()).size;
    return this.#promptSize;
  }

  /** Not callable after `createAnswer`. */
  promptText(): { readonly text: string; readonly media: number } {
    return this.readPrompt(this.#requireBody());
  }

  /** Not callable after `createAnswer`. */
  toUpstream(model: ModelTarget): Uint8Array {
    return createBody(this.#requireBody(), model);
  }

  /** Callable once. */
  createAnswer(context: AnswerContext): Answer {
    this.#body = null;
    return this.answer(context);
  }

  /** What of the body is put before the model. */
  protected abstract readPrompt(body: RequestBody): PromptParts;

  protected abstract answer(context: AnswerContext): Answer;

  #requireBody(): RequestBody {
    if (this.#body !== null) return this.#body;
    throw new GatewayError("internal_error", { cause: new Error("the request's body was let go") });
  }
}
