/** How a client's request is carried to its model's upstream, and what a client is told where it cannot be. */
import type { Model } from "../../catalog/catalog.ts";
import { GatewayError } from "../../../shared/contract/errors.ts";
import type { EndpointName } from "../../../shared/contract/endpoints.ts";
import type { ModelTarget, Protocol, ProtocolName, Translation } from "../../translation/client-protocol.ts";
import { listWords } from "../../../shared/text/list-words.ts";
import { listAnsweringPaths } from "./endpoints.ts";

/** What the upstream speaks itself passes through; chat is what everything else is translated to. */
function findTranslation(
  { name, translations }: Protocol,
  { protocols }: Pick<Model, "protocols">,
): Translation | null {
  const own = protocols.has(name) ? translations[name] : undefined;
  return own ?? (protocols.has("chat") ? translations.chat : undefined) ?? null;
}

/** @throws GatewayError 400 `endpoint_not_available_for_model` naming the endpoints that the model has. */
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

/** The translation at one of the protocol's endpoints. */
export function atEndpoint(translation: Translation, endpoint: EndpointName): Translation {
  if (endpoint !== "responses_compact") return translation;
  if (translation.compaction === undefined) throw new GatewayError("unknown_endpoint");
  return translation.compaction;
}

/** The paths at which a model is served. */
export function listEndpoints(
  model: Pick<Model, "protocols">,
  protocols: Readonly<Record<ProtocolName, Protocol>>,
): string[] {
  return listAnsweringPaths((name) => findTranslation(protocols[name], model) !== null);
}

/** The model under the name that the client asked for, which its answer carries. */
export function targetOf(model: Model, name: string): ModelTarget {
  const { id, upstreamModel, maxOutputTokens, profile } = model;
  return id === name ? model : { id: name, upstreamModel, maxOutputTokens, profile };
}

/** Headers of clients that the upstream gets beside those that every one gets. */
export function listForwarded(
  { forwardHeaders }: Pick<Model, "forwardHeaders">,
  { forwardedHeaders = [] }: Pick<Translation, "forwardedHeaders">,
): readonly string[] {
  if (forwardHeaders.length === 0) return forwardedHeaders;
  return forwardedHeaders.length === 0 ? forwardHeaders : [...forwardedHeaders, ...forwardHeaders];
}

/** Where a request goes at its upstream: of the client's query only what the upstream's protocol has. */
export function formatUpstreamPath(
  { pathPrefix }: Pick<Model, "pathPrefix">,
  { upstreamPath, forwardedQuery = [] }: Pick<Translation, "upstreamPath" | "forwardedQuery">,
  query: string,
): string {
  const path = pathPrefix + upstreamPath;
  if (query === "" || forwardedQuery.length === 0) return path;
  const kept = query.split("&").filter((parameter) => forwardedQuery.includes(parameter));
  return kept.length === 0 ? path : `${path}?${kept.join("&")}`;
}
