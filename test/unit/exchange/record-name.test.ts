import { describe, expect, it } from "vitest";
import { recordName } from "../../../src/data-path/exchange/record-name.ts";

describe("recordName", () => {
  it("keeps no credential that a client wrote as its model, and no more of a name than one can have", () => {
    expect(recordName("gpt-4o-mini")).toBe("gpt-4o-mini");
    expect(recordName("sk-igw-Ab3dEf6hIjKlMnOpQrStUvWxYz0123456789abcdAA1B2C3")).toBe("sk-igw-[redacted]");
    expect(recordName("n".repeat(1_000_000))).toBe("n".repeat(128));
  });
});
