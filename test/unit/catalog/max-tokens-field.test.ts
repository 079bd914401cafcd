import { describe, expect, it } from "vitest";
import { chooseMaxTokensField } from "../../../src/data-path/catalog/max-tokens-field.ts";
import { createCatalogOf } from "./support.ts";

describe("the names of the limit of output tokens", () => {
  it.each([
    ["api.openai.com", "max_completion_tokens"],
    ["my-resource.openai.azure.com", "max_completion_tokens"],
    ["my-resource.cognitiveservices.azure.com", "max_completion_tokens"],
    ["my-resource.services.ai.azure.com", "max_completion_tokens"],
    ["generativelanguage.googleapis.com", "max_tokens"],
    ["API.Mistral.ai", "max_tokens"],
    ["127.0.0.1", "both"],
    ["openai.com.example.org", "both"],
    ["notopenai.com", "both"],
  ])("at %s are %s where the operator says nothing", (host, field) => {
    expect(chooseMaxTokensField([{ host }])).toBe(field);
  });

  it("are those of the model's upstream, unless its profile names some", () => {
    const { models } = createCatalogOf([
      { id: "acme/chosen" },
      { id: "acme/own", extra: "    profile: {max_tokens_field: max_completion_tokens}\n" },
    ]);
    expect(models.map(({ profile }) => profile.maxTokensField)).toEqual(["both", "max_completion_tokens"]);
  });
});
