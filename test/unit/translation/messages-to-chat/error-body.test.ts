import { describe, expect, it } from "vitest";
import { GatewayError, type ErrorCode } from "../../../../src/shared/contract/errors.ts";
import {
  formatErrorBody,
  formatStreamError,
} from "../../../../src/data-path/translation/messages-to-chat/error-body.ts";
import { PROTOCOLS } from "../../../../src/data-path/translation/protocols.ts";
import { createAnswer, describeError, encode, runStream } from "../../../support/messages-exchange.ts";
import { parseMessageEvents } from "../../../support/messages-protocol-checker.ts";

const CAP = new GatewayError("hard_cap_reached", {
  message: "Reached.",
  fields: { scope: "key", spent_cents: 5013, hard_cap_cents: 5000 },
});

describe("errors on the messages routes", () => {
  it("[errors.envelope] has everything that both SDK families read", () => {
    expect(JSON.parse(formatErrorBody(CAP, "req_1"))).toEqual({
      type: "error",
      error: {
        type: "billing_error",
        message: "Reached.",
        code: "hard_cap_reached",
        param: null,
        request_id: "req_1",
        doc_url: "/errors#hard_cap_reached",
        scope: "key",
        spent_cents: 5013,
        hard_cap_cents: 5000,
        details: { error_code: "hard_cap_reached" },
      },
      request_id: "req_1",
    });
  });

  it("[errors.envelope] names the field of a 400, and an upstream's own code", () => {
    const error = new GatewayError("invalid_parameter", {
      param: "messages.0",
      upstreamCode: "string_above_max_length",
    });
    expect(JSON.parse(PROTOCOLS.messages.formatError(error, null))).toMatchObject({
      error: {
        param: "messages.0",
        code: "string_above_max_length",
        // An upstream's own code has no entry.
        doc_url: "/errors#invalid_parameter",
        details: { error_code: "string_above_max_length" },
      },
      request_id: null,
    });
  });

  it("[errors.stream] is an event with the same body", () => {
    const [event] = parseMessageEvents(formatStreamError(CAP, "req_1"));
    expect(event).toEqual({ event: "error", data: JSON.parse(formatErrorBody(CAP, "req_1")) as object });
  });

  it("[errors.stream] in an answer names the request", () => {
    const { events } = runStream(["data: {\n\n"]);
    expect(events[0]!.data).toMatchObject({ request_id: "req_1", error: { request_id: "req_1" } });
  });

  it.each<[number, string, ErrorCode]>([
    [400, "invalid_request_error", "invalid_parameter"],
    [401, "authentication_error", "invalid_api_key"],
    [402, "billing_error", "org_hard_cap_reached"],
    [403, "permission_error", "key_disabled"],
    [404, "not_found_error", "unknown_endpoint"],
    [413, "request_too_large", "request_too_large"],
    [429, "rate_limit_error", "rate_limit_exceeded"],
    [500, "api_error", "internal_error"],
    [502, "api_error", "upstream_error"],
    [503, "overloaded_error", "model_starting"],
    [503, "api_error", "gateway_unavailable"],
    [503, "api_error", "model_unreachable"],
    [529, "overloaded_error", "model_overloaded"],
    [504, "timeout_error", "upstream_timeout"],
  ])("[errors.types] %i is %s (%s)", (status, type, code) => {
    const error = new GatewayError(code);
    expect(error.status("messages")).toBe(status);
    expect(JSON.parse(formatErrorBody(error, null))).toMatchObject({ error: { type } });
  });

  it("[errors.context_length] is told in the words that clients look for", () => {
    const refuse = (error: object) => describeError(() => createAnswer().translateBody(encode({ error })));
    const message =
      "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (8000 in the messages, 1000 in the completion).";
    expect(refuse({ message, code: 400 })).toContain(
      "input length and `max_tokens` exceed context limit: 8000 + 1000 > 8192, decrease input length or `max_tokens` and try again",
    );
    expect(refuse({ message: "too many tokens", code: "context_length_exceeded", status: 400 })).toContain(
      "prompt is too long: too many tokens",
    );
  });
});
