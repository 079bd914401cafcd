import { describe, expect, it } from "vitest";
import { textClaim, textClaims } from "../../../src/data-path/auth/token-claims.ts";

const CLAIMS = {
  sub: "ann",
  empty: "",
  number: 42,
  realm_access: { roles: ["a", 1, "b", null] },
  "https://example.com/org": "acme",
  "kubernetes.io": { namespace: "batch", pod: { name: "p" } },
};

describe("claims", () => {
  it.each([
    ["sub", "ann"],
    ["empty", null],
    ["number", null],
    ["nothing", null],
    ["https://example.com/org", "acme"],
    ["kubernetes.io.namespace", "batch"],
    ["kubernetes.io.pod.name", "p"],
    ["kubernetes.io", null],
    ["constructor.name", null],
    ["sub.length", null],
    ["realm_access.roles.length", null],
  ])("%s is read as the text %s", (name, text) => {
    expect(textClaim(CLAIMS, name)).toBe(text);
  });

  it.each([
    ["realm_access.roles", ["a", "b"]],
    ["sub", ["ann"]],
    ["nothing", []],
    ["realm_access", []],
  ])("%s is read as the texts %j", (name, texts) => {
    expect(textClaims(CLAIMS, name)).toEqual(texts);
  });
});
