import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  dayAt,
  daysOf,
  expiryOf,
  formatMonthName,
  formatResetsAt,
  formatTime,
  isDay,
  monthAt,
  monthsBackFrom,
  parseMonth,
} from "../../../src/shared/time/calendar.ts";

const at = (iso: string): number => Date.parse(iso);

describe("monthAt", () => {
  it.each([
    { time: "2026-11-01T00:00:00Z", name: "2026-11", end: "2026-12-01T00:00:00Z" },
    { time: "2026-11-30T23:59:59.999Z", name: "2026-11", end: "2026-12-01T00:00:00Z" },
    { time: "2026-12-31T23:59:59.999Z", name: "2026-12", end: "2027-01-01T00:00:00Z" },
    { time: "2028-02-29T12:00:00Z", name: "2028-02", end: "2028-03-01T00:00:00Z" },
    { time: "2100-02-28T23:59:59Z", name: "2100-02", end: "2100-03-01T00:00:00Z" },
  ])("gives $time the month $name up to $end", ({ time, name, end }) => {
    expect(monthAt(at(time))).toEqual({ name, startMs: at(`${name}-01T00:00:00Z`), endMs: at(end) });
  });
});

describe("formatTime", () => {
  it("gives what Date does, for times in any order", () => {
    const anyTime = fc.oneof(
      fc.double({ min: -8.64e15, max: 8.64e15, noNaN: true }),
      fc.integer({ min: -3_000, max: 3_000 }),
    );
    fc.assert(
      fc.property(anyTime, (timeMs) => {
        expect(formatTime(timeMs)).toBe(new Date(timeMs).toISOString());
      }),
    );
  });

  it("takes no time that there is not", () => {
    expect(() => formatTime(Number.NaN)).toThrow(RangeError);
  });
});

describe("dayAt", () => {
  it("goes from midnight to midnight, UTC", () => {
    const day = {
      name: "2028-02-29",
      startMs: at("2028-02-29T00:00:00Z"),
      endMs: at("2028-03-01T00:00:00Z"),
    };
    expect(dayAt(at("2028-02-29T00:00:00Z"))).toEqual(day);
    expect(dayAt(at("2028-02-29T23:59:59.999Z"))).toEqual(day);
  });
});

describe("parseMonth", () => {
  it.each(["2026-00", "2026-13", "2026-1", "26-01", "2026-01-01", " 2026-01", ""])("refuses %j", (name) => {
    expect(parseMonth(name)).toBeNull();
  });
});

describe("isDay", () => {
  it.each([
    ["2026-11-21", true],
    ["2028-02-29", true],
    ["2026-02-29", false],
    ["2026-02-30", false],
    ["2026-11", false],
    ["2026-11-21T00:00:00Z", false],
    ["", false],
  ])("%j: %s", (name, expected) => {
    expect(isDay(name)).toBe(expected);
  });
});

describe("daysOf", () => {
  it.each([
    { month: "2026-02", count: 28 },
    { month: "2028-02", count: 29 },
    { month: "2026-04", count: 30 },
    { month: "2026-12", count: 31 },
  ])("gives $month $count days", ({ month, count }) => {
    const days = daysOf(parseMonth(month)!);
    expect([days.length, days[0], days.at(-1)]).toEqual([count, `${month}-01`, `${month}-${count}`]);
  });
});

describe("monthsBackFrom", () => {
  it("goes back over the year's end", () => {
    const names = monthsBackFrom(parseMonth("2026-02")!, 3).map(({ name }) => name);
    expect(names).toEqual(["2026-02", "2026-01", "2025-12", "2025-11"]);
  });
});

describe("expiryOf", () => {
  it("is so many whole months behind the month's end", () => {
    expect(expiryOf("2026-11", 13)).toBe(at("2028-01-01T00:00:00Z"));
    expect(expiryOf("2026-11", 0)).toBe(at("2026-12-01T00:00:00Z"));
  });

  it("refuses what is not a month", () => {
    expect(() => expiryOf("2026-11-21", 13)).toThrow('"2026-11-21" is not a month');
  });
});

describe("a month in words", () => {
  it("is its English name and its year, and resets when the next one begins", () => {
    expect(formatMonthName("2026-11")).toBe("November 2026");
    expect(formatResetsAt("2026-11")).toBe("2026-12-01T00:00:00Z");
    expect(formatResetsAt("2026-12")).toBe("2027-01-01T00:00:00Z");
  });
});
