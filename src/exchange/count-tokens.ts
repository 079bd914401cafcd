/**
 * `POST /v1/messages/count_tokens`: the prompt's tokens by a tokenizer, an estimate for models of other vocabularies. No
 * upstream is asked, nothing is charged.
 */
import type { Catalog } from "../catalog/catalog.ts";
import { readPromptText } from "../settlement/prompt-text.ts";
import type { TokenEstimator } from "../settlement/token-estimator.ts";
import { parseCountTokensRequest } from "../translation/messages-to-chat/protocol.ts";
import type { AdmissionContext } from "./admission-context.ts";

export interface CountTokensServices {
  readonly catalog: () => Catalog;
  readonly estimator: Pick<TokenEstimator, "countPrompt">;
}

/** @throws GatewayError as `POST /v1/messages` would refuse the same body. */
export function createCountTokens(services: CountTokensServices) {
  return async (body: Uint8Array, context: AdmissionContext): Promise<number> => {
    const request = parseCountTokensRequest(body);
    const model = services.catalog().requireModel(request.model, context);
    const { text, mediaTokens } = readPromptText(request.toUpstream(model));
    return (
      (await services.estimator.countPrompt(
        { model: model.id, organizationId: context.organizationId },
        text,
      )) + mediaTokens
    );
  };
}
