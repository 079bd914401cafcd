import type {
  AnswerContext,
  AskedTool,
  ModelTarget,
  PromptSize,
  PromptText,
  ProtocolName,
  RequestBody,
} from "../client-protocol.ts";
import { measureFields } from "../json/measure-memory.ts";
import { limitOutput, type OutputLimit } from "../fields/output-limit.ts";
import { createUpstreamBody } from "../openai/upstream-body.ts";
import { ReadRequest, type UpstreamTerms } from "../read-request.ts";
import { findTierField, nameServiceTier } from "../../../shared/usage/service-tiers.ts";
import type { PassThroughAnswerOptions } from "./answer.ts";
import type { PromptParts } from "./prompt-parts.ts";

const NO_LIMIT: OutputLimit = { names: [], tokens: null };
const KEPT_FIELDS: ReadonlySet<string> = new Set(["user", "safety_identifier", "metadata", "service_tier"]);

export interface PassThroughFields {
  readonly stream: boolean;
  readonly maxOutputTokens: number | null;
  readonly endUser: string | null;
  readonly serverTools: readonly AskedTool[];
}

/**
 * A client's body to an endpoint that counts: with the upstream's name of the model and without the fields of
 * `cost-fields.ts`, a limit too; every other character stays. A count costs nothing, so strict caps ask no more of it.
 * @throws GatewayError 400 for a field that would have another model's server count.
 */
export function createCountBody(protocol: ProtocolName, body: RequestBody, model: ModelTarget): Uint8Array {
  return createUpstreamBody(body, { protocol, model, stream: null, limit: NO_LIMIT, isStrict: false });
}

/** What a client calls its user; null: it says nothing. */
export function readUser(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

/** A client's request to an upstream that speaks the same protocol: every byte goes on as it is, but for the model's
 * name and the fields of `cost-fields.ts`. */
export abstract class PassThroughRequest extends ReadRequest<RequestBody, null> {
  constructor(body: RequestBody, fields: PassThroughFields) {
    const { model, value } = body;
    const keptBytes = measureFields(body, KEPT_FIELDS);
    const tier = { serviceTier: nameServiceTier(value), tierField: findTierField(value) };
    super({ model, keptBytes, ...tier, ...fields }, body);
  }

  /** Not callable after `letGo`. */
  promptText(): PromptText {
    return this.readPrompt(this.content);
  }

  abstract override limitNames(): readonly string[];

  protected override keep(): null {
    return null;
  }

  protected answerOptions({
    model,
    requestId,
    describeCost = null,
  }: AnswerContext): PassThroughAnswerOptions {
    const { protocol, stream } = this;
    return { protocol, model: model.id, stream, requestId, describeCost };
  }

  /** What of the body is put before the model. */
  protected abstract readonly readPrompt: (body: RequestBody) => PromptParts;

  protected override measure(body: RequestBody): PromptSize {
    const { size } = this.readPrompt(body);
    // What runs at the model's server adds what it finds.
    return { ...size, isWhole: size.isWhole && this.serverTools.length === 0 };
  }

  protected override convert(body: RequestBody, terms: UpstreamTerms): Uint8Array {
    const { protocol } = this;
    const { model, isStrict } = terms;
    const limit = limitOutput(this.limitNames(), this.maxOutputTokens, terms);
    return createUpstreamBody(body, { protocol, model, stream: null, limit, isStrict });
  }
}
