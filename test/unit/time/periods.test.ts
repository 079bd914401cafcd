import * as fc from "fast-check";
import { expect, it } from "vitest";
import { dayAt, DAY_MS } from "../../../src/shared/time/calendar.ts";
import { windowNumber, windowStartMs } from "../../../src/shared/time/periods.ts";

const anyLength = fc.oneof(
  fc.record({ days: fc.integer({ min: 1, max: 30 }), offset: fc.integer({ min: 0, max: 29 }) }),
  fc.record({ months: fc.integer({ min: 1, max: 24 }) }),
);

it("a window of any length contains its days", () => {
  fc.assert(
    fc.property(anyLength, fc.integer({ min: 0, max: 40_000 }), (length, number) => {
      const window = windowNumber(length, dayAt(number * DAY_MS).name);
      expect(windowStartMs(length, window)).toBeLessThanOrEqual(number * DAY_MS);
      expect(windowStartMs(length, window + 1)).toBeGreaterThan(number * DAY_MS);
    }),
  );
});

it.each([
  { length: { days: 7, offset: 3 }, day: "2026-11-29", first: "2026-11-23" },
  { length: { months: 1 }, day: "2028-02-29", first: "2028-02-01" },
  { length: { months: 3 }, day: "2026-12-31", first: "2026-10-01" },
  { length: { months: 12 }, day: "2026-12-31", first: "2026-01-01" },
])("the window of $day begins on $first", ({ length, day, first }) => {
  expect(dayAt(windowStartMs(length, windowNumber(length, day))).name).toBe(first);
});
