import { describe, expect, it } from "vitest";
import { GatewayError } from "../../../../src/shared/contract/errors.ts";
import { formatStreamError } from "../../../../src/data-path/translation/openai/error-body.ts";
import { PROTOCOLS } from "../../../../src/data-path/translation/protocols.ts";

const error = new GatewayError("hard_cap_reached", {
  message: "Reached.",
  fields: { scope: "key", spent_cents: 5013, hard_cap_cents: 5000 },
  cause: new Error("secret"),
});
const body = {
  error: {
    message: "Reached.",
    type: "billing_error",
    code: "hard_cap_reached",
    param: null,
    request_id: "req_1",
    doc_url: "/errors#hard_cap_reached",
    scope: "key",
    spent_cents: 5013,
    hard_cap_cents: 5000,
  },
};

describe("errors on the chat route", () => {
  it("are one object under `error` with the fields of the limit, and nothing of the cause", () => {
    expect(JSON.parse(PROTOCOLS.chat.formatError(error, "req_1"))).toEqual(body);
  });

  it("are one chunk in a stream", () => {
    expect(formatStreamError(error, "req_1")).toBe(`data: ${JSON.stringify(body)}\n\n`);
  });

  it("have a null request id where there is none", () => {
    expect(PROTOCOLS.chat.formatError(error, null)).toContain('"request_id":null');
  });
});
