import { describe, expect, it } from "vitest";
import { describeBrokenEnd } from "../../../src/data-path/exchange/ends/broken-end.ts";

const GONE = [499, null, null] as const;

describe("an exchange that was not ended here", () => {
  it.each([
    [502, "upstream_reset_after_response_started{protocol_error}", [502, "upstream_error", "upstream_error"]],
    [504, "stream_idle_timeout", [504, "upstream_timeout", "upstream_timeout"]],
    [503, "overload_manager", [503, "gateway_unavailable", "gateway_unavailable"]],
    // The head had gone out: the client has a 200 that breaks off.
    [200, "upstream_reset_after_response_started{remote_reset}", [200, "upstream_error", "upstream_error"]],
    [200, "upstream_response_timeout", [200, "upstream_timeout", "upstream_timeout"]],
    [403, "guardrail: pii", [403, "guardrail_blocked", "guardrail_blocked"]],
    // The guardrail ended a stream that had begun.
    [200, "guardrail: pii", [200, "guardrail_blocked", "guardrail_blocked"]],
    [0, "downstream_remote_disconnect", GONE],
    [200, "http2.remote_reset", GONE],
    [0, "something_new", GONE],
  ] as const)("with %i and %s ends so", (status, details, expected) => {
    const { result, error, cause } = describeBrokenEnd({ status, details });
    expect([result.status, result.errorCode, error?.code ?? null]).toEqual(expected);
    expect(cause).toBe(details);
  });

  it.each([
    [0, 200, "upstream_timeout"],
    [2 ** 20, 200, "upstream_timeout"],
    // Envoy may have stopped reading the upstream, for a client that does not read.
    [2 ** 20 + 1, 499, null],
  ])("in silence behind %i streamed bytes has the status %i and the code %s", (bytes, status, errorCode) => {
    const end = { status: 200, details: "stream_idle_timeout" };
    const { result, cause } = describeBrokenEnd(end, bytes);
    expect({ result, cause }).toEqual({ result: { status, errorCode }, cause: end.details });
  });

  it("names nobody where Envoy has said nothing", () => {
    expect(describeBrokenEnd(null)).toEqual({
      result: { status: 499, errorCode: null },
      error: null,
      cause: null,
    });
  });
});
