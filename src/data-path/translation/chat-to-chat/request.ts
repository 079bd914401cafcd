import type { Answer, AnswerContext, ModelTarget, PromptSize, RequestBody } from "../client-protocol.ts";
import { chatLimitNames, limitOutput } from "../fields/output-limit.ts";
import { readChatTools } from "../fields/server-tools.ts";
import { measureFields } from "../json/measure-memory.ts";
import type { JsonBody } from "../json/parse-body.ts";
import { CHAT } from "./answer.ts";
import { measurePrompt } from "./request/measure-prompt.ts";
import { type ChatFields, readChatFields } from "./request/read-fields.ts";
import { createUsageRequest } from "../fields/usage-request.ts";
import { mapUsageVisibility } from "../openai/stream-options.ts";
import { ChoicesAnswer } from "../openai/choices-answer.ts";
import { createUpstreamBody } from "../openai/upstream-body.ts";
import { findTierField } from "../../../shared/usage/service-tiers.ts";
import { ReadRequest, type UpstreamTerms } from "../read-request.ts";

/** Fields that stay in memory, besides the names of the model and tools. */
const RETAINED_FIELDS: ReadonlySet<string> = new Set(["stream_options", "user", "safety_identifier"]);

interface Content {
  readonly body: JsonBody;
  readonly fields: ChatFields;
}

/** A client's chat completion request, sent upstream as edited by `createUpstreamBody`. */
export class ChatRequest extends ReadRequest<Content, ChatFields["streamOptions"]> {
  readonly protocol = "chat";

  /** @throws GatewayError 400 naming the field and what was expected. */
  constructor(body: RequestBody) {
    const fields = readChatFields(body);
    const { model } = body;
    const { stream, maxOutputTokens, endUser, serviceTier, choices } = fields;
    const tierField = findTierField(body.value);
    const serverTools = readChatTools(body.value);
    const retainedBytes = measureFields(body, RETAINED_FIELDS);
    const facts = { model, stream, maxOutputTokens, endUser, serviceTier, tierField, choices, serverTools };
    super({ ...facts, retainedBytes }, { body, fields });
  }

  override limitNames(model: ModelTarget): readonly string[] {
    return chatLimitNames(model);
  }

  protected override measure({ body, fields }: Content): PromptSize {
    const size = measurePrompt(body, fields.messages);
    // Tools that the model server runs add their results to the prompt.
    return { ...size, isWhole: size.isWhole && this.serverTools.length === 0 };
  }

  protected override convert({ body }: Content, terms: UpstreamTerms): Uint8Array {
    const { model, isStrict } = terms;
    const stream = this.stream ? createUsageRequest(model.profile) : null;
    const limit = limitOutput(this.limitNames(model), this.maxOutputTokens, terms);
    return createUpstreamBody(body, { protocol: this.protocol, model, stream, limit, isStrict });
  }

  protected override retain({ fields }: Content): ChatFields["streamOptions"] {
    return fields.streamOptions;
  }

  protected override answer(streamOptions: ChatFields["streamOptions"], context: AnswerContext): Answer {
    const { model, requestId, describeCost = null } = context;
    // The cost is part of the usage, so a client that requests it also receives the usage.
    const options = describeCost === null ? streamOptions : { ...streamOptions, include_usage: true };
    const usageVisibility = mapUsageVisibility(options, createUsageRequest(model.profile));
    const { stream } = this;
    return new ChoicesAnswer({ model: model.id, stream, usageVisibility, requestId, describeCost }, CHAT);
  }
}
