import { GatewayError } from "../../shared/contract/errors.ts";
import type {
  Answer,
  AnswerContext,
  RequestedTool,
  Caps,
  ClientRequest,
  ModelTarget,
  PromptSize,
  ProtocolName,
} from "./client-protocol.ts";
import type { TierField } from "../../shared/usage/service-tiers.ts";
import { NO_SERVER_TOOLS } from "./fields/server-tools.ts";

/**
 * Facts parsed from a request body. Defaults of optional facts suit translated conversations: 1, 1, null, empty and
 * `service_tier`.
 */
export type RequestFacts = Pick<
  ClientRequest,
  "model" | "stream" | "maxOutputTokens" | "endUser" | "serviceTier"
> &
  Partial<Pick<ClientRequest, "choices" | "prompts" | "promptTokens" | "serverTools" | "tierField">> & {
    /** See `ClientRequest.retainedBytes`. */
    readonly retainedBytes: number;
  };

/** The upstream that a body is written for. */
export interface UpstreamTerms {
  readonly model: ModelTarget;
  readonly isStrict: boolean;
  /** See `ClientRequest.toUpstream`. */
  readonly affordable: number | null;
}

/**
 * A parsed client request. It drops its content as soon as the request is routed: a model may take minutes to answer,
 * and a conversation may have megabytes.
 * @typeParam Retained The part of the content that the answer needs; it must not refer to the rest.
 */
export abstract class ReadRequest<Content, Retained> implements ClientRequest {
  abstract readonly protocol: ProtocolName;
  readonly model: string;
  readonly stream: boolean;
  readonly maxOutputTokens: number | null;
  readonly choices: number;
  readonly serviceTier: string | null;
  readonly tierField: TierField;
  readonly serverTools: readonly RequestedTool[];
  readonly endUser: string | null;
  readonly prompts: number;
  readonly promptTokens: number | null;
  readonly retainedBytes: number;
  #content: Content | null;
  #retained: { readonly value: Retained } | null = null;
  #promptSize: PromptSize | null = null;

  constructor(facts: RequestFacts, content: Content) {
    this.model = facts.model;
    this.stream = facts.stream;
    this.maxOutputTokens = facts.maxOutputTokens;
    this.choices = facts.choices ?? 1;
    this.serviceTier = facts.serviceTier;
    this.tierField = facts.tierField ?? "service_tier";
    this.serverTools = facts.serverTools ?? NO_SERVER_TOOLS;
    this.endUser = facts.endUser;
    this.prompts = facts.prompts ?? 1;
    this.promptTokens = facts.promptTokens ?? null;
    this.retainedBytes = facts.retainedBytes;
    this.#content = content;
  }

  /** The first call must come before `release`. */
  promptSize(): PromptSize {
    this.#promptSize ??= this.measure(this.content);
    return this.#promptSize;
  }

  /**
   * Not callable after `release`.
   * @throws GatewayError 400 if the model's profile cannot represent the request, or the caps do not allow it.
   */
  toUpstream(model: ModelTarget, caps: Caps = "default", affordable: number | null = null): Uint8Array {
    return this.convert(this.content, { model, isStrict: caps === "strict", affordable });
  }

  release(model: ModelTarget): void {
    this.#retained ??= { value: this.retain(this.content, model) };
    this.#content = null;
  }

  /** Also drops the content. */
  createAnswer(context: AnswerContext): Answer {
    const { value } = (this.#retained ??= { value: this.retain(this.content, context.model) });
    this.#content = null;
    return this.answer(value, context);
  }

  abstract limitNames(model: ModelTarget): readonly string[];

  protected abstract measure(content: Content): PromptSize;

  protected abstract convert(content: Content, terms: UpstreamTerms): Uint8Array;

  protected abstract retain(content: Content, model: ModelTarget): Retained;

  protected abstract answer(retained: Retained, context: AnswerContext): Answer;

  /** Not available after `release`. */
  protected get content(): Content {
    if (this.#content !== null) return this.#content;
    throw new GatewayError("internal_error", { cause: new Error("the request's body was let go") });
  }
}
