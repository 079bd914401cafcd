import { describe, expect, it } from "vitest";
import { createEmbeddingsSnippets } from "../../../../src/admin/dashboard/snippets.ts";

describe("createEmbeddingsSnippets", () => {
  it("asks for embeddings of the model at the base URL, with the key of the environment", () => {
    for (const { text } of createEmbeddingsSnippets("https://gateway.example.com", "acme/embed")) {
      expect(text).toContain("https://gateway.example.com/v1");
      expect(text).toContain("acme/embed");
      expect(text).toMatch(/\$API_KEY|os\.environ\["API_KEY"\]/u);
      expect(text).toContain("embeddings");
    }
  });
});
