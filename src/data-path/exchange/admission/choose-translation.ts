/**
 * Chooses the translation between a client's protocol and the protocol of the model's upstream. Throws the client's
 * error if there is none.
 */
import type { Model } from "../../catalog/catalog.ts";
import { GatewayError } from "../../../shared/contract/errors.ts";
import type { EndpointName } from "../../../shared/contract/endpoints.ts";
import type { ModelTarget, Protocol, ProtocolName, Translation } from "../../translation/client-protocol.ts";
import { listWords } from "../../../shared/text/list-words.ts";
import { listAnsweringPaths } from "./endpoints.ts";

/** An upstream's own protocol passes through; all other protocols are translated to chat. */
function findTranslation(
  { name, translations }: Protocol,
  { protocols }: Pick<Model, "protocols">,
): Translation | null {
  const own = protocols.has(name) ? translations[name] : undefined;
  return own ?? (protocols.has("chat") ? translations.chat : undefined) ?? null;
}

/** @throws GatewayError 400 `endpoint_not_available_for_model`, which names the model's endpoints. */
export function chooseTranslation(
  protocol: Protocol,
  model: Pick<Model, "id" | "protocols">,
  protocols: Readonly<Record<ProtocolName, Protocol>>,
): Translation {
  const translation = findTranslation(protocol, model);
  if (translation !== null) return translation;
  const paths = listEndpoints(model, protocols);
  const message = `The model \`${model.id}\` isn't available at this endpoint. It is available at ${listWords(paths.map((path) => `\`POST ${path}\``))}.`;
  throw new GatewayError("endpoint_not_available_for_model", { message, param: "model" });
}

/** Restricts a translation to one endpoint of the protocol. */
export function atEndpoint(translation: Translation, endpoint: EndpointName): Translation {
  if (endpoint !== "responses_compact") return translation;
  if (translation.compaction === undefined) throw new GatewayError("unknown_endpoint");
  return translation.compaction;
}

/** Lists the paths at which a model is served. */
export function listEndpoints(
  model: Pick<Model, "protocols">,
  protocols: Readonly<Record<ProtocolName, Protocol>>,
): string[] {
  return listAnsweringPaths((name) => findTranslation(protocols[name], model) !== null);
}

/** The model under the name that the client used, which the response repeats. */
export function targetOf(model: Model, name: string): ModelTarget {
  const { id, upstreamModel, maxOutputTokens, profile } = model;
  return id === name ? model : { id: name, upstreamModel, maxOutputTokens, profile };
}

/** Client headers that this upstream gets in addition to those that every upstream gets. */
export function listForwarded(
  { forwardHeaders }: Pick<Model, "forwardHeaders">,
  { forwardedHeaders = [] }: Pick<Translation, "forwardedHeaders">,
): readonly string[] {
  if (forwardHeaders.length === 0) return forwardedHeaders;
  return forwardedHeaders.length === 0 ? forwardHeaders : [...forwardedHeaders, ...forwardHeaders];
}

/** Path of a request at its upstream. Of the client's query, only parameters of the upstream's protocol are kept. */
export function formatUpstreamPath(
  { pathPrefix }: Pick<Model, "pathPrefix">,
  { upstreamPath, forwardedQuery = [] }: Pick<Translation, "upstreamPath" | "forwardedQuery">,
  query: string,
): string {
  const path = pathPrefix + upstreamPath;
  if (query === "" || forwardedQuery.length === 0) return path;
  const forwarded = query.split("&").filter((parameter) => forwardedQuery.includes(parameter));
  return forwarded.length === 0 ? path : `${path}?${forwarded.join("&")}`;
}
