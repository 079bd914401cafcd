import { describe, expect, it } from "vitest";
import {
  countUsedTokens,
  hasFailedBefore,
  isEstimateClose,
} from "../../../src/data-path/settlement/tokens/used-tokens.ts";
import { plainTokens } from "../../../src/shared/usage/token-usage.ts";

const taken = { buckets: "key=total", prompt: 1_000, reserved: 0, countsCached: false };

describe("what a request takes of limits of tokens", () => {
  it("is without what came from a cache, unless that counts", () => {
    const tokens = { ...plainTokens(30, 5), cachedInputTokens: 1_000 };
    expect(countUsedTokens(taken, tokens)).toEqual({ ...taken, input: 30, output: 5 });
    expect(countUsedTokens({ ...taken, countsCached: true }, tokens)).toMatchObject({ input: 1_030 });
  });

  it.each([
    { estimate: 1_750, near: true },
    { estimate: 1_800, near: false },
    { estimate: 600, near: true },
    { estimate: 100, near: false },
  ])("stands until the first charge, or not, where the body says $estimate", ({ estimate, near }) => {
    expect(isEstimateClose(taken, estimate)).toBe(near);
    expect(isEstimateClose(null, estimate)).toBe(true);
  });

  it.each([
    { what: "an upstream that fails before its first byte", generated: 0, status: 502, failed: true },
    { what: "a client that leaves", generated: 0, status: 499, failed: false },
    { what: "an upstream that fails in mid-answer", generated: 3, status: 502, failed: false },
  ])("is nothing, or something, behind $what", ({ generated, status, failed }) => {
    const result = { status, errorCode: null };
    expect(hasFailedBefore(generated, { estimated: true }, { result })).toBe(failed);
    expect(hasFailedBefore(generated, { estimated: false }, { result })).toBe(false);
    expect(hasFailedBefore(generated, { estimated: true }, null)).toBe(false);
  });
});
