import { describe, expect, it } from "vitest";
import { createId, isId, timeOfId } from "../../../src/data-path/store/ids.ts";

const NOW = Date.parse("2026-11-21T01:02:03.004Z");

describe("createId", () => {
  it("makes a UUID of version 7 behind the prefix", () => {
    const pattern = /^req_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
    const ids = Array.from({ length: 2000 }, () => createId("req", NOW));
    for (const id of ids) expect(id).toMatch(pattern);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it("makes ids that sort by their time", () => {
    const times = [0, 1, 4096, NOW, NOW + 1, 2 ** 47];
    const ids = times.map((time) => createId("key", time));
    expect(ids.toSorted((left, right) => (left < right ? -1 : 1))).toEqual(ids);
  });

  it("makes ids that sort by their creation within a millisecond", () => {
    const ids = Array.from({ length: 2000 }, () => createId("key", NOW + 1));
    expect(ids.toSorted((left, right) => (left < right ? -1 : 1))).toEqual(ids);
  });

  it("goes on with other ids where more are made in a millisecond than it can count", () => {
    const ids = Array.from({ length: 10_000 }, () => createId("key", NOW + 2));
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) expect(isId("key", id)).toBe(true);
  });
});

describe("timeOfId", () => {
  it.each([0, 1, NOW, 2 ** 47])("reads the time %s back", (time) => {
    expect(timeOfId(createId("org", time))).toBe(time);
  });

  it.each(["", "req_", "req_01934f6e", "01934f6e-0000-7000-8000-000000000000"])("has none for %j", (text) => {
    expect(timeOfId(text)).toBeNull();
  });
});

describe("isId", () => {
  it("knows the prefix and the form, and nothing that could leave a Redis key's hash tag", () => {
    const id = createId("org", NOW);
    expect(isId("org", id)).toBe(true);
    expect(isId("key", id)).toBe(false);
    for (const text of [`${id}}`, `${id}\n`, id.toUpperCase(), "org_*", "org_{}"]) {
      expect(isId("org", text)).toBe(false);
    }
  });
});
