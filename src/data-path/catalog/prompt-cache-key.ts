import type { UpstreamConfig } from "../../shared/config/schema.ts";

/** Providers whose chat completions choose a prompt's cache by `prompt_cache_key`. Others reject unknown fields. */
const USING_HOSTS: readonly RegExp[] = [
  /(?:^|\.)openai\.(?:com|azure\.com)$/,
  /\.(?:cognitiveservices|services\.ai)\.azure\.com$/,
  /(?:^|\.)moonshot\.(?:ai|cn)$/,
];

/** Whether an upstream uses the field if its operator has said nothing. */
export function usesPromptCacheKey(
  endpoints: readonly Pick<UpstreamConfig["endpoints"][number], "host">[],
): boolean {
  return USING_HOSTS.some((form) => endpoints.some(({ host }) => form.test(host.toLowerCase())));
}
