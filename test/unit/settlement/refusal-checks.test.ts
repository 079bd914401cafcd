import { describe, expect, it } from "vitest";
import { GatewayError } from "../../../src/shared/contract/errors.ts";
import { describeRefusal } from "../../../src/data-path/settlement/refusal-checks.ts";

describe("describeRefusal", () => {
  it.each([
    ["invalid_json", "body"],
    ["internal_error", "body"],
    ["model_not_allowed", "model"],
    ["request_too_large", "size"],
    ["buffer_limit_exceeded", "size"],
    ["guardrail_blocked", "guardrail"],
    ["concurrency_limit_exceeded", "concurrency"],
    ["session_cap_reached", "session_cap"],
    ["org_hard_cap_reached", "organization_hard_cap"],
  ] as const)("names the check of %s: %s", (code, name) => {
    expect(describeRefusal(new GatewayError(code))[0]?.name).toBe(name);
  });

  it("keeps no key that a client sent in the place of a model's name", () => {
    const key = "sk-igw-abcdefghijklmnopqrstuvwxyz0123456789";
    const error = new GatewayError("model_not_found", { message: `There is no model "${key}".`, param: key });
    const checks = describeRefusal(error);
    expect(checks).toMatchObject([{ name: "model", passed: false }]);
    expect(JSON.stringify(checks)).not.toContain(key);
    expect(JSON.stringify(checks)).toContain("[redacted]");
  });
});
