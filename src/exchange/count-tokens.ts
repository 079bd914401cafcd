/**
 * `POST /v1/messages/count_tokens` and `POST /v1/responses/input_tokens`: the prompt's tokens by a tokenizer, an estimate
 * for models of other vocabularies. No upstream is asked, nothing is charged.
 */
import { GatewayError } from "../errors.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { Admission } from "../limits/admission.ts";
import { readPromptText } from "../settlement/prompt-text.ts";
import type { TokenEstimator } from "../settlement/token-estimator.ts";
import type { Protocol, ProtocolName } from "../translation/client-protocol.ts";
import { chooseTranslation } from "./choose-translation.ts";

export interface CountTokensServices {
  readonly catalog: () => Catalog;
  readonly protocols: Readonly<Record<ProtocolName, Protocol>>;
  readonly estimator: Pick<TokenEstimator, "countPrompt">;
}

/** @throws GatewayError as the request itself would be refused. */
export function createCountTokens(services: CountTokensServices) {
  return async (body: Uint8Array, admission: Admission): Promise<object> => {
    const protocol = services.protocols[admission.protocol];
    const read = protocol.readBody(body);
    const model = services.catalog().requireModel(read.model, admission);
    const { counting } = chooseTranslation(protocol, model, services.protocols);
    if (counting === null) throw new GatewayError("unknown_endpoint");
    const request = counting.parseRequest(read);
    const { text, mediaTokens } = readPromptText(request.toUpstream(model));
    const asked = { model: model.id, organizationId: admission.organizationId };
    const tokens = (await services.estimator.countPrompt(asked, text)) + mediaTokens;
    return counting.formatCount(tokens);
  };
}
