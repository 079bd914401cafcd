import type { ModelTarget, PromptSize } from "../client-protocol.ts";
import { chatLimitNames } from "../fields/output-limit.ts";
import { formatJson } from "../json/exact-json.ts";
import { ReadRequest, type UpstreamTerms } from "../read-request.ts";
import { convertRequest } from "./convert-request.ts";
import { measurePrompt } from "./measure-prompt.ts";
import type { ParsedRequest } from "./parsed-request.ts";

/** A client's request in a protocol that is translated: its conversation goes to the upstream as chat messages. */
export abstract class ConversationRequest<Content extends ParsedRequest, Kept> extends ReadRequest<
  Content,
  Kept
> {
  /** @param keptBytes As `ClientRequest.keptBytes`. */
  constructor(content: Content, keptBytes: number) {
    const { model, stream, maxTokens: maxOutputTokens, userId: endUser } = content;
    const serviceTier = content.serviceTier?.toLowerCase() ?? null;
    super({ model, stream, maxOutputTokens, endUser, serviceTier, keptBytes }, content);
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
