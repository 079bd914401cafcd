import { describe, expect, it } from "vitest";
import { formatOwnerIds, listOwnerIds, parseOwnerIds } from "../../../src/shared/stored/owner-ids.ts";

describe("whose a request is", () => {
  it.each([
    [{ userId: "user_1", groupId: "group_2" }, "user_1.group_2"],
    [{ userId: "user_1", groupId: null }, "user_1"],
    [{ userId: null, groupId: "group_2" }, "group_2"],
    [{ userId: null, groupId: null }, ""],
  ])("is one text: %j", (ids, text) => {
    expect(formatOwnerIds(ids)).toBe(text);
    expect(parseOwnerIds(text)).toEqual(ids);
  });

  it("is listed once, of many", () => {
    const all = ["user_1.group_2", "user_3.group_2", "", "user_1"].map(parseOwnerIds);
    expect(listOwnerIds(all)).toEqual(["user_1", "group_2", "user_3"]);
  });
});
