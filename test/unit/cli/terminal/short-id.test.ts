import { describe, expect, it } from "vitest";
import { endOfShortId, isShortId, shortenId } from "../../../../src/operation/cli/terminal/short-id.ts";

const ID = "key_01934f6e-7d3a-7c1e-9a40-5f0c2b8d6e11";

describe("a short id", () => {
  it("is the end of an id, and leaves every other text as it is", () => {
    expect(shortenId(ID)).toBe("key_…2b8d6e11");
    expect(isShortId(shortenId(ID))).toBe(true);
    for (const text of ["ci", "sk-igw-…a1B2", "", `${ID}0`]) expect(shortenId(text)).toBe(text);
  });

  it.each(["key_…2b8d6e11", "key_2b8d6e11", "…2b8d6e11", "2b8d6e11", "5f0c2b8d6e11", "8d6e11"])(
    "may be typed as %s",
    (typed) => {
      const end = endOfShortId("key", typed);
      expect(end === null ? null : ID.endsWith(end)).toBe(true);
    },
  );

  it.each(["req_…2b8d6e11", "ci", "d6e11", ID, "key_", "05f0c2b8d6e11", "KEY_2b8d6e11"])(
    "of a key is not %s",
    (typed) => {
      expect(endOfShortId("key", typed)).toBeNull();
    },
  );
});
