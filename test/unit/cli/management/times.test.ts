import { describe, expect, it } from "vitest";
import {
  parseDuration,
  parseFutureTime,
  parsePastTime,
} from "../../../../src/operation/cli/management/option-values.ts";

describe("parseDuration", () => {
  it.each([
    ["0", 0],
    ["3600", 3600],
    ["90s", 90],
    ["30m", 1800],
    ["24h", 86_400],
    ["7d", 604_800],
  ] as const)("reads %s as %d seconds", (text, seconds) => {
    expect(parseDuration(text)).toBe(seconds);
  });

  it.each(["", "-1", "1.5h", "1 h", "h", "1w", "2026-11-01"])("refuses %j", (text) => {
    expect(() => parseDuration(text)).toThrow("expected a time such as");
  });
});

describe("a time", () => {
  it("in the past is a day, a time, or so long ago", () => {
    expect(parsePastTime("2026-11-01")).toBe("2026-11-01");
    expect(parsePastTime("2026-11-01T14:00:00+01:00")).toBe("2026-11-01T14:00:00+01:00");
    const before = Date.now();
    const agoMs = before - Date.parse(parsePastTime("2h"));
    expect(agoMs).toBeGreaterThanOrEqual(7_200_000 - (Date.now() - before));
    expect(agoMs).toBeLessThanOrEqual(7_200_000);
  });

  it("in the future is a day from its beginning on (UTC), a time, so long from now, or none", () => {
    expect(parseFutureTime("2027-01-01")).toBe("2027-01-01T00:00:00Z");
    expect(parseFutureTime("2027-01-01T10:00:00Z")).toBe("2027-01-01T10:00:00Z");
    expect(parseFutureTime("none")).toBe("none");
    expect(Date.parse(parseFutureTime("90d")) - Date.now()).toBeGreaterThan(89 * 86_400_000);
  });

  it.each([
    "2026-02-30",
    "2026-13-01",
    "2026-11",
    "2026-11-01T25:00:00Z",
    "2026-11-01 14:00",
    "5",
    "yesterday",
    "",
  ])("is not %j", (text) => {
    expect(() => parsePastTime(text)).toThrow("expected a day such as 2026-11-01");
  });
});
