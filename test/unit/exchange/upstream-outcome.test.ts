import { describe, expect, it } from "vitest";
import { isFromUpstream, mapLocalOutcome } from "../../../src/exchange/upstream-outcome.ts";

describe("mapLocalOutcome", () => {
  it.each([
    ["no_healthy_upstream", "model_starting", false],
    ["ext_proc_error_gRPC_error_14", "model_starting", false],
    [
      "upstream_reset_before_response_started{remote_connection_failure|delayed_connect_error:_111}",
      "model_starting",
      false,
    ],
    ["upstream_reset_before_response_started{connection_timeout}", "model_starting", false],
    ["upstream_reset_before_response_started{overflow}", "model_overloaded", false],
    ["upstream_reset_before_response_started{connection_termination}", "upstream_error", true],
    ["upstream_reset_before_response_started{protocol_error}", "upstream_error", true],
    ["upstream_response_timeout", "upstream_timeout", true],
    ["stream_idle_timeout", "upstream_timeout", true],
    ["cluster_not_found", "internal_error", false],
    ["request_payload_too_large", "request_too_large", false],
    ["something_new", "upstream_error", true],
  ])("tells the client of %s as %s", (codeDetails, code, wasReached) => {
    const outcome = mapLocalOutcome(codeDetails, { startupSeconds: 10, wasEverReached: true });
    expect([outcome.error.code, outcome.wasReached]).toEqual([code, wasReached]);
  });

  it.each([
    { wasEverReached: true, code: "model_starting" },
    { wasEverReached: false, code: "model_unreachable" },
  ])(
    "tells $code, free, and when to come back, where one is gone that was reached before: $wasEverReached",
    (row) => {
      const { error, wasReached } = mapLocalOutcome("no_healthy_upstream", { ...row, startupSeconds: 30 });
      expect([
        error.code,
        error.status("chat"),
        error.retryAfterSeconds,
        error.shouldRetry,
        wasReached,
      ]).toEqual([row.code, 503, 30, true, false]);
    },
  );
});

describe("isFromUpstream", () => {
  it("knows an upstream's own answer, a 503 included", () => {
    expect([isFromUpstream("via_upstream"), isFromUpstream("no_healthy_upstream")]).toEqual([true, false]);
  });
});
