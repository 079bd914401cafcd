import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { holdsCredential } from "../../../src/shared/text/scrub.ts";
import {
  addEndUser,
  hasTags,
  mergeTags,
  parseTagList,
  readTags,
  valueOfTag,
} from "../../../src/shared/usage/tags.ts";

describe("parseTagList", () => {
  it.each([
    ["team=search,feature=autocomplete", "feature=autocomplete,team=search"],
    [" team = search", null],
    ["team=search , feature=a", "feature=a,team=search"],
    ["a=1", "a=1"],
    ["user=a+b@example.com,url=https://x/y:z_-.", "url=https://x/y:z_-.,user=a+b@example.com"],
  ])("reads %s", (list, tags) => {
    const parsed = parseTagList(list);
    expect("tags" in parsed ? parsed.tags : null).toBe(tags);
  });

  it.each([
    ["", 'expected `name=value`, found ""'],
    ["team", 'expected `name=value`, found "team"'],
    ["a=1,,b=2", 'expected `name=value`, found ""'],
    ["Team=a", 'of which the first is a letter; found "Team"'],
    ["1a=a", "expected a name"],
    ["=a", 'found ""'],
    ["team=", 'found "" for `team`'],
    ["team=a b", 'found "a b" for `team`'],
    ["team=a=b", 'found "a=b" for `team`'],
    ["team=größe", 'found "größe" for `team`'],
    ["team=\u202Ea", "expected a value"],
    [`team=sk-igw-${"0".repeat(43)}`, "expected a value without a key or token in it for `team`"],
    [`team=${"a".repeat(65)}`, "of 1 to 64 characters"],
    [`${"a".repeat(65)}=a`, "of 1 to 64 characters"],
    ["team=a,team=b", "expected each name once, found `team` twice"],
    [Array.from({ length: 9 }, (_, n) => `n${n}=1`).join(","), "expected at most 8 tags, found 9"],
    ["a".repeat(5_000), "expected at most 2048 characters, found 5000"],
  ])("says what is wrong with %s", (list, problem) => {
    const parsed = parseTagList(list);
    expect("problem" in parsed ? parsed.problem : null).toContain(problem);
  });

  it("takes eight tags of the longest names and values", () => {
    const tags = Array.from({ length: 8 }, (_, n) => `${`n${n}`.padEnd(64, "x")}=${"v".repeat(64)}`).join(
      ",",
    );
    expect(parseTagList(tags)).toEqual({ tags });
  });

  it("has one form for equal combinations, which reads back as what was sent", () => {
    const name = fc.stringMatching(/^[a-z][a-z0-9_.-]{0,63}$/u);
    const value = fc.stringMatching(/^[A-Za-z0-9_.:/@+-]{1,64}$/u).filter((text) => !holdsCredential(text));
    fc.assert(
      fc.property(fc.dictionary(name, value, { minKeys: 1, maxKeys: 8 }), (tags) => {
        const list = Object.entries(tags).map((tag) => tag.join("="));
        const parsed = parseTagList(list.join(","));
        expect(parsed).toEqual(parseTagList(list.toReversed().join(" , ")));
        expect(readTags("tags" in parsed ? parsed.tags : "")).toEqual(tags);
      }),
    );
  });
});

describe("tags", () => {
  it("of a request take the place of a key's defaults of the same name", () => {
    expect(mergeTags("team=search", "env=prod,team=other-one")).toBe("env=prod,team=search");
    expect([mergeTags("", "a=1"), mergeTags("a=1", ""), mergeTags("", "")]).toEqual(["a=1", "a=1", ""]);
  });

  it("have the end user under `user`, as a digest where it is no value of a tag, unless one is given", () => {
    expect(addEndUser("team=a", "u-1")).toBe("team=a,user=u-1");
    expect(addEndUser("user=mine", "u-1")).toBe("user=mine");
    expect([addEndUser("a=1", null), addEndUser("a=1", "")]).toEqual(["a=1", "a=1"]);
    const digest = /^user=sha256:[0-9a-f]{32}$/;
    for (const user of ["a b", "a,b=c", "größe", "x".repeat(65), `sk-igw-${"0".repeat(43)}`]) {
      expect(addEndUser("", user)).toMatch(digest);
    }
    expect(addEndUser("", "a b")).not.toBe(addEndUser("", "a c"));
  });

  it("of a row of usage have values by name, `other` where they are not kept apart", () => {
    expect(valueOfTag("feature=a,team=search", "team")).toBe("search");
    expect([valueOfTag("a=1", "team"), valueOfTag("", "team")]).toEqual([null, null]);
    expect(valueOfTag("other", "team")).toBe("other");
    expect([
      hasTags("a=1,b=2", "b=2"),
      hasTags("a=1", "b=2"),
      hasTags("other", "a=1"),
      hasTags("a=1", ""),
    ]).toEqual([true, false, false, true]);
  });
});
