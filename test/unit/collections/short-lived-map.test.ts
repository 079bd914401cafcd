import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ShortLivedMap } from "../../../src/shared/collections/short-lived-map.ts";

const key = fc.integer({ min: 0, max: 40 });
const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("set" as const), key, value: fc.integer() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("delete" as const), key, value: fc.constant(0) }) },
);

describe("ShortLivedMap", () => {
  it("has what a map has, in the same order, however often its entries come and go", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 1_000, size: "max" }), (steps) => {
        const [map, model] = [new ShortLivedMap<number, number>(), new Map<number, number>()];
        for (const { kind, key, value } of steps) {
          for (const one of [map, model]) {
            if (kind === "set") one.set(key, value);
            else one.delete(key);
          }
          expect(map.size).toBe(model.size);
          expect(map.get(key)).toBe(model.get(key));
        }
        expect([...map.values()]).toEqual([...model.values()]);
      }),
    );
  });
});
