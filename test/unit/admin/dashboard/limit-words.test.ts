import { describe, expect, it } from "vitest";
import {
  describeLimitLevel,
  describeWait,
  formatShare,
  nameReset,
} from "../../../../src/management/admin/dashboard/limit-words.ts";

const NOW_MS = Date.parse("2026-11-26T12:00:00Z");
const inMinutes = (minutes: number) => describeWait(NOW_MS + minutes * 60_000, NOW_MS);
const HOUR = 60;
const DAY = 24 * HOUR;

describe("how long a window lasts", () => {
  it.each([
    [0, "in 1 minute"],
    [59, "in 59 minutes"],
    [HOUR, "in 1 hour"],
    [2 * DAY - 1, "in 47 hours"],
    [2 * DAY, "in 2 days"],
    [3.5 * DAY, "in 3 days"],
  ])("%i minutes: %s", (minutes, expected) => {
    expect(inMinutes(minutes)).toBe(expected);
  });

  it("is named by its weekday where it is a week, by its date where it is a month", () => {
    expect(nameReset("day", "2026-11-27T00:00:00Z")).toBe("00:00 UTC");
    expect(nameReset("week", "2026-11-30T00:00:00Z")).toBe("Monday 00:00 UTC");
    expect(nameReset("month", "2026-12-01T00:00:00Z")).toBe("2026-12-01 00:00 UTC");
  });
});

describe("how a limit stands", () => {
  it.each([
    ["cap", 100, 89, "ok", "89 %"],
    ["cap", 100, 90, "near", "90 %"],
    ["cap", 1000, 999, "near", "99 %"],
    ["cap", 100, 100, "reached", "100 %"],
    ["cap", 0, 0, "reached", "100 %"],
    ["budget", 100, 79, "ok", "79 %"],
    ["budget", 100, 80, "near", "80 %"],
    ["budget", 100, 101, "over budget", "101 %"],
    ["cap", 100_000, 1, "ok", "< 1 %"],
    ["cap", 100, -50, "ok", "0 %"],
  ] as const)("%s of %i with %i spent: %s", (kind, cents, spent, words, share) => {
    const limit = { kind, cents, spent_cents: spent };
    expect(describeLimitLevel(limit).words).toBe(words);
    expect(formatShare(limit)).toBe(share);
  });
});
