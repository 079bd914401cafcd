import { describe, expect, it } from "vitest";
import { formatDuration, formatRateHeaders } from "../../../src/data-path/limits/headers/rate-headers.ts";

describe("formatDuration", () => {
  it.each([
    [0, "0s"],
    [-5, "0s"],
    [1, "1ms"],
    [999.2, "1s"],
    [1200, "1.2s"],
    [60_000, "1m0s"],
    [360_000, "6m0s"],
    [3_600_000, "1h0m0s"],
    [3_723_004, "1h2m3.004s"],
  ])("writes %d ms as Go does", (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });
});

describe("formatRateHeaders", () => {
  const rate = {
    limit: 600,
    capacity: 60,
    remaining: 59,
    resetMs: 100,
    timeMs: Date.UTC(2026, 10, 21, 12, 0, 0, 950),
    tokens: [],
  };

  it("has OpenAI's names on the chat routes", () => {
    expect(formatRateHeaders(rate, "chat")).toEqual([
      ["x-service-ratelimit-remaining", "59"],
      ["x-ratelimit-limit-requests", "600"],
      ["x-ratelimit-remaining-requests", "59"],
      ["x-ratelimit-reset-requests", "100ms"],
    ]);
  });

  it("has Anthropic's names and an RFC 3339 time on the messages routes", () => {
    expect(formatRateHeaders(rate, "messages")).toEqual([
      ["x-service-ratelimit-remaining", "59"],
      ["anthropic-ratelimit-requests-limit", "600"],
      ["anthropic-ratelimit-requests-remaining", "59"],
      ["anthropic-ratelimit-requests-reset", "2026-11-21T12:00:02Z"],
    ]);
  });
});
