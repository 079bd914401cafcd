import type { ModelTarget, PromptSize } from "../client-protocol.ts";
import { chatLimitNames } from "../fields/output-limit.ts";
import { formatJson } from "../json/exact-json.ts";
import { ReadRequest, type UpstreamTerms } from "../read-request.ts";
import { convertRequest } from "./convert-request.ts";
import { measurePrompt } from "./measure-prompt.ts";
import type { ParsedRequest } from "./parsed-request.ts";

/** A client's request whose conversation is translated to chat messages. */
export abstract class ConversationRequest<Content extends ParsedRequest, Retained> extends ReadRequest<
  Content,
  Retained
> {
  /** @param retainedBytes See `ClientRequest.retainedBytes`. */
  constructor(content: Content, retainedBytes: number) {
    const { model, stream, maxTokens: maxOutputTokens, userId: endUser } = content;
    const serviceTier = content.serviceTier?.toLowerCase() ?? null;
    super({ model, stream, maxOutputTokens, endUser, serviceTier, retainedBytes }, content);
  }

  override limitNames(model: ModelTarget): readonly string[] {
    return chatLimitNames(model);
  }

  protected override measure(content: Content): PromptSize {
    return measurePrompt(content);
  }

  protected override convert(content: Content, terms: UpstreamTerms): Uint8Array {
    return Buffer.from(formatJson(convertRequest(content, terms)), "utf8");
  }
}
