import { describe, expect, it } from "vitest";
import { isHarmlessField, isWholeField } from "../../../../src/data-path/translation/fields/known-fields.ts";

describe("fields that are known", () => {
  it.each([
    ["chat", "messages", true, true],
    ["chat", "guided_json", true, true],
    ["chat", "prompt_cache_options", true, true],
    ["responses", "prompt_cache_options", true, true],
    ["chat", "chat_template_kwargs", true, false],
    ["chat", "safe_prompt", true, false],
    ["chat", "web_search_options", true, false],
    ["messages", "tools", true, true],
    ["messages", "context_management", true, false],
    ["responses", "instructions", true, true],
    ["responses", "prompt", true, false],
    ["completions", "prompt_embeds", true, false],
    ["embeddings", "task", true, false],
    // A limit goes upstream under the model's own name for it, and is no part of the prompt.
    ["chat", "max_tokens", false, true],
    ["chat", "plugins", false, false],
    ["chat", "tomorrow", false, false],
  ] as const)("of %s: %s passes strict caps (%s), the prompt is what stands in it (%s)", (...given) => {
    const [protocol, name, isHarmless, isWhole] = given;
    expect([isHarmlessField(protocol, name), isWholeField(protocol, name)]).toEqual([isHarmless, isWhole]);
  });
});
