import type { UpstreamConfig } from "../../shared/config/schema.ts";
import type { ModelProfile } from "../../shared/contract/model-profile.ts";

type Field = ModelProfile["maxTokensField"];

/** Providers that refuse a request with both names of the limit, and the one that all of their models take. */
const ONE_NAME: readonly (readonly [host: RegExp, field: Field])[] = [
  [/(?:^|\.)openai\.(?:com|azure\.com)$/, "max_completion_tokens"],
  [/\.(?:cognitiveservices|services\.ai)\.azure\.com$/, "max_completion_tokens"],
  [/(?:^|\.)googleapis\.com$/, "max_tokens"],
  [/(?:^|\.)mistral\.ai$/, "max_tokens"],
];

/** The names of the limit of output tokens at an upstream of which its operator has said nothing. */
export function chooseMaxTokensField(
  endpoints: readonly Pick<UpstreamConfig["endpoints"][number], "host">[],
): Field {
  const known = ONE_NAME.find(([form]) => endpoints.some(({ host }) => form.test(host.toLowerCase())));
  return known?.[1] ?? "both";
}
