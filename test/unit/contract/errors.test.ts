import { describe, expect, it } from "vitest";
import { ERRORS, type ErrorCode, GatewayError } from "../../../src/shared/contract/errors.ts";

describe("GatewayError", () => {
  it("keeps what was thrown as the cause, and tells the client nothing of it", () => {
    const error = GatewayError.from(new Error("password=hunter2"));
    expect(error.code).toBe("internal_error");
    expect(error.message).not.toContain("hunter2");
  });

  it("passes a GatewayError on as it is", () => {
    const error = new GatewayError("model_not_found");
    expect(GatewayError.from(error)).toBe(error);
  });

  it.each([
    [0, 1],
    [0.2, 1],
    [1.1, 2],
    [59, 59],
    [60, 59],
    [86_400, 59],
  ])("holds a wait of %d seconds to %d", (seconds, held) => {
    expect(new GatewayError("model_starting", { retryAfterSeconds: seconds }).retryAfterSeconds).toBe(held);
  });

  it("knows where it was made when it is a fault of the gateway's or the upstream's", () => {
    expect(new GatewayError("internal_error").stack).toContain("errors.test.ts");
    expect(new GatewayError("rate_limit_exceeded").stack).not.toContain("errors.test.ts");
    expect(new Error("after a refusal").stack).toContain("errors.test.ts");
  });

  it("has 529 on the messages routes where the Anthropic protocol has it", () => {
    const error = new GatewayError("model_overloaded");
    expect([error.status("chat"), error.status("messages")]).toEqual([503, 529]);
  });

  it.each(Object.keys(ERRORS) as ErrorCode[])("has %s retried if its status is 429 or 5xx", (code) => {
    const error = new GatewayError(code);
    for (const protocol of ["chat", "messages"] as const) {
      expect(error.shouldRetry).toBe(/429|5../.test(String(error.status(protocol))));
    }
  });
});
