import { describe, expect, it } from "vitest";
import { createTokenLimitError } from "../../../src/data-path/limits/errors/token-limit.ts";
import { ADMITTED } from "../exchange/admit-request-fixture.ts";

const NOWHERE = { baseUrl: null, contact: null };

describe("createTokenLimitError", () => {
  it("names the limit and the true time, however long it is", () => {
    const bucket = { ...ADMITTED.bucket, retryAfterSeconds: 181 };
    const tokenLimit = { scope: "organization", type: "input", limit: 1_000 } as const;
    const error = createTokenLimitError({ ...ADMITTED, bucket, tokenLimit }, NOWHERE);
    expect(error.message).toMatch(
      /^Rate limit of 1000 input tokens per minute for organization ".+" reached\. Try again in 181 seconds\.$/,
    );
    expect([error.code, error.retryAfterSeconds, error.fields]).toEqual([
      "token_rate_limit_exceeded",
      181,
      { scope: "organization", limit_type: "input" },
    ]);
  });

  it("says a second where it is less, and names no owner that is not there", () => {
    const tokenLimit = { scope: "user", type: "total", limit: 5 } as const;
    expect(createTokenLimitError({ ...ADMITTED, tokenLimit }, NOWHERE).message).toContain(
      "Try again in 1 second.",
    );
  });
});
