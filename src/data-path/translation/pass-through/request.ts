import type {
  AnswerContext,
  RequestedTool,
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
const RETAINED_FIELDS: ReadonlySet<string> = new Set([
  "user",
  "safety_identifier",
  "metadata",
  "service_tier",
]);

export interface PassThroughFields {
  readonly stream: boolean;
  readonly maxOutputTokens: number | null;
  readonly endUser: string | null;
  readonly serverTools: readonly RequestedTool[];
}

/**
 * Edits a client's body for an endpoint that counts tokens: sets the upstream's model name and removes the fields of
 * `cost-fields.ts`, including limits; every other character stays. Counting is free, so strict caps add no
 * restrictions.
 * @throws GatewayError 400 for a field that selects another model.
 */
export function createCountBody(protocol: ProtocolName, body: RequestBody, model: ModelTarget): Uint8Array {
  return createUpstreamBody(body, { protocol, model, stream: null, limit: NO_LIMIT, isStrict: false });
}

/** Reads the client's id of its end user; null if absent. */
export function readUser(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

/**
 * A client's request to an upstream of the same protocol: every byte is forwarded, except the model's name and the
 * fields of `cost-fields.ts`.
 */
export abstract class PassThroughRequest extends ReadRequest<RequestBody, null> {
  constructor(body: RequestBody, fields: PassThroughFields) {
    const { model, value } = body;
    const retainedBytes = measureFields(body, RETAINED_FIELDS);
    const tier = { serviceTier: nameServiceTier(value), tierField: findTierField(value) };
    super({ model, retainedBytes, ...tier, ...fields }, body);
  }

  /** Not callable after `release`. */
  promptText(): PromptText {
    return this.readPrompt(this.content);
  }

  abstract override limitNames(): readonly string[];

  protected override retain(): null {
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

  /** Reads the part of the body that the model reads. */
  protected abstract readonly readPrompt: (body: RequestBody) => PromptParts;

  protected override measure(body: RequestBody): PromptSize {
    const { size } = this.readPrompt(body);
    // Tools that the model server runs add their results to the prompt.
    return { ...size, isWhole: size.isWhole && this.serverTools.length === 0 };
  }

  protected override convert(body: RequestBody, terms: UpstreamTerms): Uint8Array {
    const { protocol } = this;
    const { model, isStrict } = terms;
    const limit = limitOutput(this.limitNames(), this.maxOutputTokens, terms);
    return createUpstreamBody(body, { protocol, model, stream: null, limit, isStrict });
  }
}
