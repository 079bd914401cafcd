import { describe, expect, it } from "vitest";
import { HealthTally, isFailed } from "../../../src/management/admin/api/health.ts";
import type { RecentRequest } from "../../../src/shared/stored/reporting.ts";

/** Only what health reads of a request. */
function request(over: object = {}): RecentRequest {
  return {
    status: 200,
    errorCode: null,
    outputTokens: 0,
    trace: { timeline: null, upstream: null },
    ...over,
  } as unknown as RecentRequest;
}

function answered(endMs: number, over: object = {}): RecentRequest {
  const timeline = { bodyMs: 1, routedMs: 2, upstreamMs: null, firstTokenMs: null, endMs };
  return request({ trace: { timeline: { ...timeline, ...over }, upstream: null } });
}

describe("a request", () => {
  it.each([
    ["that succeeded", { status: 200 }, false],
    ["that the upstream rejected", { status: 400, errorCode: "invalid_request" }, false],
    ["that failed", { status: 502, errorCode: "upstream_error" }, true],
    ["that broke off", { status: 200, errorCode: "upstream_error" }, true],
    ["whose client left", { status: 499, errorCode: "client_closed" }, null],
    ["whose worker died", { status: null }, null],
  ])("%s", (_name, over, failed) => {
    expect(isFailed(request(over))).toBe(failed);
  });
});

describe("health", () => {
  it("has the smallest duration that half, and 95 %, of the successful requests don't exceed", () => {
    const tally = new HealthTally();
    for (let ms = 1; ms <= 20; ms += 1) tally.add(answered(ms * 100, { firstTokenMs: ms * 10 }));
    tally.add(request({ status: 503 }));
    tally.add(request({ status: 499 }));
    expect(tally.format()).toMatchObject({
      judged_requests: 21,
      failed_requests: 1,
      duration_ms: { p50: 1_000, p95: 1_900 },
      first_token_ms: { p50: 100, p95: 190 },
    });
  });

  it("counts output tokens per second from the upstream's turn to the end", () => {
    const tally = new HealthTally();
    tally.add({ ...answered(1_002), outputTokens: 30 });
    tally.add({ ...answered(2_002), outputTokens: 30 });
    expect(tally.format().output_tokens_per_second).toBe(20);
  });

  it("is unknown without a request", () => {
    expect(new HealthTally().format()).toEqual({
      judged_requests: 0,
      failed_requests: 0,
      duration_ms: null,
      first_token_ms: null,
      output_tokens_per_second: null,
    });
  });
});
