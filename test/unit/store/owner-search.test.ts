import { describe, expect, it } from "vitest";
import { foldName } from "../../../src/data-path/store/management/organization-names.ts";
import {
  compareEntries,
  formatSearchCursor,
  idOfEntry,
  isFoundAt,
  isInRange,
  listEntries,
  parseSearchCursor,
} from "../../../src/data-path/store/management/owner-search.ts";

const ID = "user_1";

/** The texts that a search finds, of those who have one each. */
function isFound(search: string, ...texts: string[]): boolean {
  const folded = foldName(search);
  return listEntries(ID, texts).some(
    (entry) => isInRange(entry, folded) && isFoundAt(entry, ID, texts, folded),
  );
}

describe("a search of users and groups", () => {
  it.each([
    "ann",
    "ANN",
    "smith",
    " ann  sm",
    "ann smith",
    "ann.smith@example.com",
    "smith@exa",
    "example.com",
    "com",
  ])("finds Ann Smith by %j", (search) => {
    expect(isFound(search, "Ann Smith", "Ann.Smith@example.com")).toBe(true);
  });

  it.each(["mith", "smith ann", "annsmith", "@example.com", "ann smith ", "x"])(
    "does not find Ann Smythe by %j",
    (search) => {
      expect(isFound(search, "Ann Smythe", "Ann.Smythe@example.com")).toBe(false);
    },
  );

  it("finds letters of every script, wide ones as narrow ones, and what begins with no letter", () => {
    expect(isFound("ä", "Jörg Ärmel")).toBe(true);
    expect(isFound("ann", "Ａｎｎ")).toBe(true);
    expect(isFound("李", "王 李")).toBe(true);
    expect(isFound("🎉", "🎉 Party")).toBe(true);
    expect(isFound("party", "🎉 Party")).toBe(true);
  });

  it("finds by what is longer than an entry, and only whoever has all of it", () => {
    const long = "a".repeat(60);
    expect(isFound(long, long)).toBe(true);
    expect(isFound(`${"a".repeat(50)}b`, long)).toBe(false);
  });

  it("finds nobody twice, at whichever entries", () => {
    const texts = ["Ann Annis", "ann@annex.com"];
    const folded = foldName("ann");
    const entries = listEntries(ID, texts).filter((entry) => isInRange(entry, folded));
    expect(entries).toHaveLength(4);
    expect(entries.filter((entry) => isFoundAt(entry, ID, texts, folded))).toHaveLength(1);
    expect(entries.map(idOfEntry)).toEqual([ID, ID, ID, ID]);
  });

  it("keeps a bounded number of entries, each of a bounded length, characters whole", () => {
    const entries = listEntries(ID, ["x ".repeat(50), "a.".repeat(120)]);
    expect(entries.length).toBeLessThanOrEqual(20);
    const [wide = ""] = listEntries(ID, ["😀".repeat(100)]);
    expect(wide).toBe(`${"😀".repeat(40)}\0${ID}`);
  });

  it("changes no more entries than the texts differ by", () => {
    const before = listEntries(ID, ["Ann Smith", "ann@example.com"]);
    const after = listEntries(ID, ["Ann Smith", "smith@example.com"]);
    const { removed, added } = compareEntries(before, after);
    expect(removed).toEqual([`ann@example.com\0${ID}`]);
    expect(added).toEqual([`smith@example.com\0${ID}`]);
  });
});

describe("the cursor of a search", () => {
  it("is read as it was written, and nothing else is", () => {
    const entry = `李 smith\0${ID}`;
    expect(parseSearchCursor(formatSearchCursor(entry))).toBe(entry);
    for (const other of ["", "abc", "user_01934f6e-7d3a-7c1e-9a40-5f0c2b8d6e11", "_-_-"]) {
      expect(parseSearchCursor(other)).toBeNull();
    }
  });
});
