/** docs/decisions: pages that all have one form. */
import { describe, expect, it } from "vitest";
import { listPages } from "../../support/documents.ts";

const PAGES = listPages().filter(({ page }) => page.startsWith("docs/decisions/"));
const INDEX = "docs/decisions/README.md";
const DECISIONS = PAGES.filter(({ page }) => page !== INDEX);

describe("docs/decisions", () => {
  it.each(DECISIONS)("$page has context, decision, alternatives and consequences", ({ prose }) => {
    const headings = Array.from(prose.matchAll(/^## (.+)$/gm), ([, heading]) => heading);
    expect(headings).toEqual(["Context", "Decision", "Alternatives", "Consequences"]);
  });

  it.each(DECISIONS)("$page has at most 400 words", ({ prose }) => {
    expect(prose.split(/\s+/).length).toBeLessThanOrEqual(400);
  });

  it("are all in the index", () => {
    const index = PAGES.find(({ page }) => page === INDEX)?.prose ?? "";
    const listed = Array.from(index.matchAll(/\]\(([^)]+\.md)\)/g), ([, path]) => `docs/decisions/${path}`);
    expect(listed).toEqual(DECISIONS.map(({ page }) => page).toSorted());
  });
});
