import { describe, expect, it } from "vitest";
import { setBounded } from "../../../src/shared/collections/set-bounded.ts";

describe("setBounded", () => {
  it("drops the oldest, a sixteenth of them at once, and tells them", () => {
    const map = new Map<string, number>();
    for (let index = 0; index < 32; index += 1) expect(setBounded(map, `k${index}`, index, 32)).toEqual([]);
    expect(setBounded(map, "k0", 100, 32)).toEqual([]);
    expect(setBounded(map, "new", 101, 32)).toEqual([1, 2]);
    expect([map.size, map.get("k0"), map.has("k2"), map.has("k3")]).toEqual([31, 100, false, true]);
  });

  it("drops one of a few", () => {
    const map = new Map([
      ["a", 1],
      ["b", 2],
    ]);
    expect(setBounded(map, "c", 3, 2)).toEqual([1]);
    expect([...map.keys()]).toEqual(["b", "c"]);
  });
});
