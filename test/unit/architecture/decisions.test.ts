/** docs/internals/decisions.md: each decision has its reason, alternatives and what they would cost. */
import { expect, it } from "vitest";
import { listPages } from "../../support/documents.ts";

const { prose = "" } = listPages().find(({ page }) => page === "docs/internals/decisions.md") ?? {};
const [, ...DECISIONS] = prose.split(/^## /m);

it("decisions are numbered, and each has a text, then a table of at least two alternatives", () => {
  expect(DECISIONS.map((decision) => Number(decision.split(".")[0]))).toEqual(
    DECISIONS.map((_, index) => index + 1),
  );
  expect(DECISIONS.length).toBeGreaterThanOrEqual(10);
  const incomplete = DECISIONS.filter(
    (decision) => !/^.+\n\n[A-Z`].+\n\n\|.+\|\n\|-.+\|\n(?:\|.+\|\n){2,}/.test(decision),
  );
  expect(incomplete).toEqual([]);
});
