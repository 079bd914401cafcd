import { describe, expect, it } from "vitest";
import { createSnippets } from "../../../../src/management/admin/dashboard/snippets.ts";

describe("snippets of a model without chat", () => {
  it.each(["embeddings", "completions"] as const)(
    "ask for its %s at the base URL, with the key of the environment",
    (endpoint) => {
      for (const { text } of createSnippets(endpoint, "https://gateway.example.com", "acme/one")) {
        expect(text).toContain("https://gateway.example.com/v1");
        expect(text).toContain("acme/one");
        expect(text).toMatch(/\$API_KEY|os\.environ\["API_KEY"\]/u);
        expect(text).toContain(endpoint);
      }
    },
  );
});
