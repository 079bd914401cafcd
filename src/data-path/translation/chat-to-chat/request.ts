import type { Answer, AnswerContext, ModelTarget, PromptSize, RequestBody } from "../client-protocol.ts";
import { chatLimitNames, limitOutput } from "../fields/output-limit.ts";
import { readChatTools } from "../fields/server-tools.ts";
import { measureFields } from "../json/measure-memory.ts";
import type { JsonBody } from "../json/parse-body.ts";
import { CHAT } from "./answer.ts";
import { measurePrompt } from "./request/measure-prompt.ts";
import { type ChatFields, readChatFields } from "./request/read-fields.ts";
import { wishForUsage } from "../fields/usage-wish.ts";
import { mapUsageVisibility } from "../openai/stream-options.ts";
import { ChoicesAnswer } from "../openai/choices-answer.ts";
import { createUpstreamBody } from "../openai/upstream-body.ts";
import { findTierField } from "../../../shared/usage/service-tiers.ts";
import { ReadRequest, type UpstreamTerms } from "../read-request.ts";

/** What stays of a body beside the names of its model and tools. */
const KEPT_FIELDS: ReadonlySet<string> = new Set(["stream_options", "user", "safety_identifier"]);

interface Content {
  readonly body: JsonBody;
  readonly fields: ChatFields;
}

/** A client's chat completion request; what its upstream gets is what `createUpstreamBody` says. */
export class ChatRequest extends ReadRequest<Content, ChatFields["streamOptions"]> {
  readonly protocol = "chat";

  /** @throws GatewayError 400 naming the field and what was expected. */
  constructor(body: RequestBody) {
    const fields = readChatFields(body);
    const { model } = body;
    const { stream, maxOutputTokens, endUser, serviceTier, choices } = fields;
    const tierField = findTierField(body.value);
    const serverTools = readChatTools(body.value);
    const keptBytes = measureFields(body, KEPT_FIELDS);
    const told = { model, stream, maxOutputTokens, endUser, serviceTier, tierField, choices, serverTools };
    super({ ...told, keptBytes }, { body, fields });
  }

  override limitNames(model: ModelTarget): readonly string[] {
    return chatLimitNames(model);
  }

  protected override measure({ body, fields }: Content): PromptSize {
    const size = measurePrompt(body, fields.messages);
    // What runs at the model's server adds what it finds.
    return { ...size, isWhole: size.isWhole && this.serverTools.length === 0 };
  }

  protected override convert({ body }: Content, terms: UpstreamTerms): Uint8Array {
    const { model, isStrict } = terms;
    const stream = this.stream ? wishForUsage(model.profile) : null;
    const limit = limitOutput(this.limitNames(model), this.maxOutputTokens, terms);
    return createUpstreamBody(body, { protocol: this.protocol, model, stream, limit, isStrict });
  }

  protected override keep({ fields }: Content): ChatFields["streamOptions"] {
    return fields.streamOptions;
  }

  protected override answer(streamOptions: ChatFields["streamOptions"], context: AnswerContext): Answer {
    const { model, requestId, describeCost = null } = context;
    // The cost stands in the usage, so who asks for it sees both.
    const options = describeCost === null ? streamOptions : { ...streamOptions, include_usage: true };
    const usageVisibility = mapUsageVisibility(options, wishForUsage(model.profile));
    const { stream } = this;
    return new ChoicesAnswer({ model: model.id, stream, usageVisibility, requestId, describeCost }, CHAT);
  }
}
