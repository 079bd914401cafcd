import { describe, expect, it } from "vitest";
import { sanitizeModelName } from "../../../src/data-path/exchange/sanitize-model-name.ts";

describe("sanitizeModelName", () => {
  it("keeps no credential that a client wrote as its model, and no more of a name than one can have", () => {
    expect(sanitizeModelName("gpt-4o-mini")).toBe("gpt-4o-mini");
    expect(sanitizeModelName("sk-igw-Ab3dEf6hIjKlMnOpQrStUvWxYz0123456789abcdAA1B2C3")).toBe(
      "sk-igw-[redacted]",
    );
    expect(sanitizeModelName("n".repeat(1_000_000))).toBe("n".repeat(128));
  });
});
