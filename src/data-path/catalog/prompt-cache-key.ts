import type { UpstreamConfig } from "../../shared/config/schema.ts";

/**
 * Hosts of providers whose chat completions select a prompt's cache by `prompt_cache_key`. Others reject unknown
 * fields.
 */
const USING_HOSTS: readonly RegExp[] = [
  /(?:^|\.)openai\.(?:com|azure\.com)$/,
  /\.(?:cognitiveservices|services\.ai)\.azure\.com$/,
  /(?:^|\.)moonshot\.(?:ai|cn)$/,
];

/** Returns whether an upstream uses the field, if the profile does not set it. */
export function usesPromptCacheKey(
  endpoints: readonly Pick<UpstreamConfig["endpoints"][number], "host">[],
): boolean {
  return USING_HOSTS.some((form) => endpoints.some(({ host }) => form.test(host.toLowerCase())));
}
