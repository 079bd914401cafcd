import { expect, it } from "vitest";
import { usesPromptCacheKey } from "../../../src/data-path/catalog/prompt-cache-key.ts";

it.each([
  ["api.openai.com", true],
  ["my-resource.openai.azure.com", true],
  ["api.moonshot.ai", true],
  ["API.MOONSHOT.CN", true],
  ["127.0.0.1", false],
  ["api.mistral.ai", false],
  ["openai.com.example.org", false],
])("sends prompt_cache_key to %s: %s", (host, uses) => {
  expect(usesPromptCacheKey([{ host }])).toBe(uses);
});
