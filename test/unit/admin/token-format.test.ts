import { describe, expect, it } from "vitest";
import {
  createOrganizationToken,
  displayToken,
  hashToken,
  isWellFormedToken,
} from "../../../src/management/admin/principal.ts";

describe("organization tokens", () => {
  it("have the form that is checked before a look-up, and are never the same", () => {
    const tokens = Array.from({ length: 100 }, () => createOrganizationToken());
    expect(tokens.every(isWellFormedToken)).toBe(true);
    expect(new Set(tokens).size).toBe(100);
  });

  it.each([
    "",
    "igw_org_",
    "igw_op_abc",
    `igw_org_${"a".repeat(42)}`,
    `igw_org_${"a".repeat(44)}`,
    `igw_org_${"é".repeat(43)}`,
  ])("are not recognised in %j", (text) => {
    expect(isWellFormedToken(text)).toBe(false);
  });

  it("are shown by their last four characters and stored as SHA-256", () => {
    const token = createOrganizationToken();
    expect(displayToken(token)).toBe(`igw_org_…${token.slice(-4)}`);
    expect(hashToken("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  });
});
