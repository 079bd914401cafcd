import { expect, it } from "vitest";
import { isAllowedAddress } from "../../../src/shared/settings/email-domains.ts";

it.each([
  { address: "a@example.com", domains: null, expected: true },
  { address: "a@example.com", domains: ["example.com"], expected: true },
  { address: "a@EXAMPLE.com", domains: ["example.com"], expected: true },
  { address: "a@sub.example.com", domains: ["example.com"], expected: false },
  { address: "a@notexample.com", domains: ["example.com"], expected: false },
  { address: '"x@example.com"@evil.example', domains: ["example.com"], expected: false },
])("an address $address of $domains: $expected", ({ address, domains, expected }) => {
  expect(isAllowedAddress(address, domains)).toBe(expected);
});
