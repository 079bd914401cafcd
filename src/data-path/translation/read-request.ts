import { GatewayError } from "../../shared/contract/errors.ts";
import type {
  Answer,
  AnswerContext,
  AskedTool,
  Caps,
  ClientRequest,
  ModelTarget,
  PromptSize,
  ProtocolName,
} from "./client-protocol.ts";
import type { TierField } from "../../shared/usage/service-tiers.ts";
import { NO_SERVER_TOOLS } from "./fields/server-tools.ts";

/**
 * What is known of a request once its body was read; what may be left out is as in a conversation that is translated: 1,
 * 1, null, none and `service_tier`.
 */
export type RequestFacts = Pick<
  ClientRequest,
  "model" | "stream" | "maxOutputTokens" | "endUser" | "serviceTier"
> &
  Partial<Pick<ClientRequest, "choices" | "prompts" | "promptTokens" | "serverTools" | "tierField">> & {
    /** As `ClientRequest.keptBytes`. */
    readonly keptBytes: number;
  };

/** The upstream for which a body is written. */
export interface UpstreamTerms {
  readonly model: ModelTarget;
  readonly isStrict: boolean;
  /** As `ClientRequest.toUpstream`. */
  readonly affordable: number | null;
}

/**
 * A client's request whose body was read. The content is let go as soon as the request is routed: a model may take
 * minutes, and a conversation may have megabytes.
 * @typeParam Kept What of the content the answer depends on; it must not refer to the rest.
 */
export abstract class ReadRequest<Content, Kept> implements ClientRequest {
  abstract readonly protocol: ProtocolName;
  readonly model: string;
  readonly stream: boolean;
  readonly maxOutputTokens: number | null;
  readonly choices: number;
  readonly serviceTier: string | null;
  readonly tierField: TierField;
  readonly serverTools: readonly AskedTool[];
  readonly endUser: string | null;
  readonly prompts: number;
  readonly promptTokens: number | null;
  readonly keptBytes: number;
  #content: Content | null;
  #kept: { readonly value: Kept } | null = null;
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
    this.keptBytes = facts.keptBytes;
    this.#content = content;
  }

  /** Not callable for the first time after `letGo`. */
  promptSize(): PromptSize {
    this.#promptSize ??= this.measure(this.content);
    return this.#promptSize;
  }

  /**
   * Not callable after `letGo`.
   * @throws GatewayError 400 where the model's profile cannot represent the request, or the caps do not let it pass.
   */
  toUpstream(model: ModelTarget, caps: Caps = "default", affordable: number | null = null): Uint8Array {
    return this.convert(this.content, { model, isStrict: caps === "strict", affordable });
  }

  letGo(model: ModelTarget): void {
    this.#kept ??= { value: this.keep(this.content, model) };
    this.#content = null;
  }

  /** Lets the body go. */
  createAnswer(context: AnswerContext): Answer {
    const { value } = (this.#kept ??= { value: this.keep(this.content, context.model) });
    this.#content = null;
    return this.answer(value, context);
  }

  abstract limitNames(model: ModelTarget): readonly string[];

  protected abstract measure(content: Content): PromptSize;

  protected abstract convert(content: Content, terms: UpstreamTerms): Uint8Array;

  protected abstract keep(content: Content, model: ModelTarget): Kept;

  protected abstract answer(kept: Kept, context: AnswerContext): Answer;

  /** Not there after `letGo`. */
  protected get content(): Content {
    if (this.#content !== null) return this.#content;
    throw new GatewayError("internal_error", { cause: new Error("the request's body was let go") });
  }
}
