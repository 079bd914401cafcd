import type { UpstreamConfig } from "../../shared/config/schema.ts";
import type { ModelProfile } from "../../shared/contract/model-profile.ts";

type Field = ModelProfile["maxTokensField"];

/**
 * Hosts of providers that reject a request with both names of the limit, and the name that all of their models accept.
 */
const ONE_NAME: readonly (readonly [host: RegExp, field: Field])[] = [
  [/(?:^|\.)openai\.(?:com|azure\.com)$/, "max_completion_tokens"],
  [/\.(?:cognitiveservices|services\.ai)\.azure\.com$/, "max_completion_tokens"],
  [/(?:^|\.)googleapis\.com$/, "max_tokens"],
  [/(?:^|\.)mistral\.ai$/, "max_tokens"],
];

/** Chooses the names of the output limit for an upstream, if the profile does not set them. */
export function chooseMaxTokensField(
  endpoints: readonly Pick<UpstreamConfig["endpoints"][number], "host">[],
): Field {
  const known = ONE_NAME.find(([form]) => endpoints.some(({ host }) => form.test(host.toLowerCase())));
  return known?.[1] ?? "both";
}
