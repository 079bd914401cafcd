import { describe, expect, it } from "vitest";
import {
  isFromUpstream,
  mapLocalOutcome,
} from "../../../src/data-path/exchange/upstream/upstream-outcome.ts";

describe("mapLocalOutcome", () => {
  it.each([
    ["no_healthy_upstream", "model_starting", "not_sent"],
    ["ext_proc_error_gRPC_error_14", "model_starting", "not_sent"],
    [
      "upstream_reset_before_response_started{remote_connection_failure|delayed_connect_error:_111}",
      "model_starting",
      "not_sent",
    ],
    ["upstream_reset_before_response_started{connection_timeout}", "model_starting", "not_sent"],
    ["upstream_reset_before_response_started{overflow}", "model_overloaded", "not_sent"],
    ["upstream_reset_before_response_started{connection_termination}", "upstream_error", "broken"],
    ["upstream_reset_before_response_started{protocol_error}", "upstream_error", "broken"],
    ["upstream_response_timeout", "upstream_timeout", "broken"],
    ["stream_idle_timeout", "upstream_timeout", "broken"],
    ["cluster_not_found", "internal_error", "not_sent"],
    ["request_payload_too_large", "request_too_large", "not_sent"],
    ["something_new", "upstream_error", "broken"],
  ])("tells the client of %s as %s", (codeDetails, code, outcome) => {
    const mapped = mapLocalOutcome(
      { codeDetails, lostConnection: undefined, sinceSentMs: 0 },
      { startupSeconds: 10, wasEverReached: true },
    );
    expect([mapped.error.code, mapped.outcome]).toEqual([code, outcome]);
  });

  it.each([
    ["was there before the request, and brought nothing", "14711 0", 0, "refused_by_upstream"],
    ["was there before the request, and broke within a second", "14711 0", 1_000, "refused_by_upstream"],
    ["was there before the request, and broke after long work", "14711 0", 1_001, "broken"],
    ["brought something", "14711 25", 0, "broken"],
    ["was made for the request", "- 0", 0, "broken"],
    ["is of an Envoy whose configuration says nothing of it", undefined, 0, "broken"],
  ])("takes a connection that %s (%j, after %d ms) for %s", (_, lostConnection, sinceSentMs, outcome) => {
    const known = { startupSeconds: 10, wasEverReached: true };
    const codeDetails = "upstream_reset_before_response_started{connection_termination}";
    const mapped = mapLocalOutcome({ codeDetails, lostConnection, sinceSentMs }, known);
    expect([mapped.outcome, mapped.error.status("chat"), mapped.error.shouldRetry]).toEqual([
      outcome,
      502,
      true,
    ]);
    const other = "upstream_reset_before_response_started{protocol_error}";
    expect(mapLocalOutcome({ codeDetails: other, lostConnection, sinceSentMs }, known).outcome).toBe(
      "broken",
    );
  });

  it.each([
    { wasEverReached: true, code: "model_starting" },
    { wasEverReached: false, code: "model_unreachable" },
  ])(
    "tells $code, free, and when to come back, where one is gone that was reached before: $wasEverReached",
    (row) => {
      const gone = { codeDetails: "no_healthy_upstream", lostConnection: undefined, sinceSentMs: 0 };
      const { error, outcome } = mapLocalOutcome(gone, { ...row, startupSeconds: 30 });
      expect([error.code, error.status("chat"), error.retryAfterSeconds, error.shouldRetry, outcome]).toEqual(
        [row.code, 503, 30, true, "not_sent"],
      );
    },
  );
});

describe("isFromUpstream", () => {
  it("knows an upstream's own answer, a 503 included", () => {
    expect([isFromUpstream("via_upstream"), isFromUpstream("no_healthy_upstream")]).toEqual([true, false]);
  });
});
