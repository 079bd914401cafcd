import { describe, expect, it } from "vitest";
import {
  createCompletionsSnippets,
  createEmbeddingsSnippets,
} from "../../../../src/admin/dashboard/snippets.ts";

describe("snippets of a model without chat", () => {
  it.each([
    ["embeddings", createEmbeddingsSnippets],
    ["completions", createCompletionsSnippets],
  ])("ask for its %s at the base URL, with the key of the environment", (endpoint, create) => {
    for (const { text } of create("https://gateway.example.com", "acme/one")) {
      expect(text).toContain("https://gateway.example.com/v1");
      expect(text).toContain("acme/one");
      expect(text).toMatch(/\$API_KEY|os\.environ\["API_KEY"\]/u);
      expect(text).toContain(endpoint);
    }
  });
});
