import { describe, expect, it } from "vitest";
import { measureProgress } from "../../../src/shared/usage/forecast.ts";

/** A Friday at noon; three days of the month are left. */
const NOW_MS = Date.UTC(2026, 10, 27, 12);
/** Friday to Thursday before it. */
const WEEK = [
  ["2026-11-20", 100],
  ["2026-11-21", 0],
  ["2026-11-22", 0],
  ["2026-11-23", 50],
  ["2026-11-24", 60],
  ["2026-11-25", 70],
  ["2026-11-26", 80],
] as const;

const forecastOf = (spent: number, costs: readonly (readonly [string, number])[], nowMs = NOW_MS) =>
  measureProgress("2026-11", spent, new Map(costs), nowMs).forecastMicrocents;

describe("the forecast of a month", () => {
  it("expects of each remaining day what the same weekday cost last, and of today what is missing", () => {
    expect(measureProgress("2026-11", 1000, new Map([...WEEK, ["2026-11-27", 30]]), NOW_MS)).toEqual({
      daysBegun: 27,
      remainingDays: 3,
      // 70 of today, nothing at the weekend, a Monday.
      forecastMicrocents: 1000 + 70 + 0 + 0 + 50,
    });
  });

  it("expects no more of today if it has cost more than the weekday before", () => {
    expect(forecastOf(1000, [...WEEK, ["2026-11-27", 500]])).toBe(1050);
  });

  it("takes the mean of the days since the first that cost something for weekdays that it does not know", () => {
    const young = [
      ["2026-11-25", 10],
      ["2026-11-26", 30],
    ] as const;
    expect(forecastOf(40, young)).toBe(40 + 4 * 20);
  });

  it("looks back into the month before", () => {
    const first = Date.UTC(2026, 10, 1);
    const week = Array.from({ length: 7 }, (_, index) => [`2026-10-${25 + index}`, 10] as const);
    expect(forecastOf(0, week, first)).toBe(300);
  });

  it("is none before a whole day with spend, however much today has cost, and for a month that is over", () => {
    expect(forecastOf(819, [["2026-11-27", 819]])).toBeNull();
    expect(measureProgress("2026-10", 1000, new Map(WEEK), NOW_MS).forecastMicrocents).toBeNull();
  });
});
