import { describe, expect, it } from "vitest";
import { createKey } from "../../../src/data-path/auth/key-format.ts";
import { readKey } from "../../../src/data-path/auth/read-key.ts";
import { GatewayError } from "../../../src/shared/contract/errors.ts";

const KEY = createKey();
const OTHER = createKey();
const MISTYPED = `${KEY.slice(0, 10)}${KEY.charAt(10) === "a" ? "b" : "a"}${KEY.slice(11)}`;

function codeOf(headers: Record<string, string | undefined>): string {
  try {
    readKey(headers);
  } catch (thrown) {
    if (thrown instanceof GatewayError) return thrown.code;
    throw thrown;
  }
  return "none";
}

describe("readKey", () => {
  it.each([
    ["as Bearer", { authorization: `Bearer ${KEY}` }],
    ["as Bearer in any case", { authorization: `bEaReR ${KEY}` }],
    ["behind several spaces", { authorization: `Bearer    ${KEY}` }],
    ["with white space around", { authorization: `  Bearer ${KEY}  ` }],
    ["as x-api-key", { "x-api-key": KEY }],
    ["as x-api-key with white space around", { "x-api-key": ` ${KEY} ` }],
    ["in both headers", { authorization: `Bearer ${KEY}`, "x-api-key": KEY }],
    ["beside a placeholder in x-api-key", { authorization: `Bearer ${KEY}`, "x-api-key": "dummy" }],
    ["beside a placeholder in authorization", { authorization: "Bearer unused", "x-api-key": KEY }],
    ["beside a mistyped one", { authorization: `Bearer ${MISTYPED}`, "x-api-key": KEY }],
    ["beside an empty header", { authorization: "", "x-api-key": KEY }],
  ])("finds a key %s", (_name, headers) => {
    expect(readKey(headers)).toBe(KEY);
  });

  it.each([
    ["nothing", {}, "missing_api_key"],
    ["two empty headers", { authorization: " ", "x-api-key": "" }, "missing_api_key"],
    ["a placeholder", { authorization: "Bearer dummy" }, "invalid_api_key"],
    ["a mistyped key", { authorization: `Bearer ${MISTYPED}` }, "invalid_api_key"],
    ["a key without a scheme", { authorization: KEY }, "invalid_api_key"],
    ["another scheme", { authorization: `Basic ${KEY}` }, "invalid_api_key"],
    ["a scheme without a key", { authorization: "Bearer " }, "missing_api_key"],
    ["two different keys", { authorization: `Bearer ${KEY}`, "x-api-key": OTHER }, "invalid_api_key"],
    ["a header that was sent twice", { "x-api-key": `${KEY},${KEY}` }, "invalid_api_key"],
  ])("refuses %s", (_name, headers, code) => {
    expect(codeOf(headers)).toBe(code);
  });

  it("says what is missing before a key without a scheme", () => {
    expect(() => readKey({ authorization: KEY })).toThrow(
      /without a scheme\. Send it as `Authorization: Bearer/,
    );
    expect(readKey({ authorization: KEY, "x-api-key": OTHER })).toBe(OTHER);
  });

  it("names the scheme with every refusal", () => {
    for (const headers of [{}, { "x-api-key": "dummy" }]) {
      expect(() => readKey(headers)).toThrow(
        expect.objectContaining({ headers: { "www-authenticate": "Bearer" } }) as Error,
      );
    }
  });

  it("never says the key that was sent", () => {
    expect(() => readKey({ authorization: `Bearer ${MISTYPED}` })).toThrow(
      expect.objectContaining({
        message: expect.not.stringContaining(MISTYPED.slice(7, 20)) as string,
      }) as Error,
    );
  });
});
