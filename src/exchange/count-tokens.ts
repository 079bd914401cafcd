/** `POST /v1/messages/count_tokens`: an estimate of the prompt's tokens; no upstream is asked, nothing is charged. */
import type { Catalog } from "../catalog/catalog.ts";
import type { TokenEstimator } from "../settlement/token-estimator.ts";
import { parseCountTokensRequest } from "../translation/messages-to-chat/protocol.ts";
import type { AdmissionContext } from "./admission-context.ts";

export interface CountTokensServices {
  readonly catalog: () => Catalog;
  readonly estimator: TokenEstimator;
}

/** @throws GatewayError as `POST /v1/messages` would refuse the same body. */
export function createCountTokens(services: CountTokensServices) {
  return (body: Uint8Array, context: AdmissionContext): Promise<number> => {
    const request = parseCountTokensRequest(body);
    const model = services.catalog().requireModel(request.model, context);
    const translated = request.toUpstream(model);
    return Promise.resolve(services.estimator.estimatePrompt(model.id, translated.byteLength));
  };
}
