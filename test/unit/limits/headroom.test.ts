import { describe, expect, it } from "vitest";
import { formatHeadroom } from "../../../src/data-path/limits/headers/headroom.ts";
import type { KnownKeyResult } from "../../../src/shared/stored/admission.ts";
import { ADMITTED } from "../exchange/admit-request-fixture.ts";

const CENT = 1_000_000n;
const capped = (spent: bigint): KnownKeyResult => {
  const amounts = { cents: 1_000, raisedCents: 0, spentMicrocents: spent * CENT, ownMicrocents: 0n };
  return { ...ADMITTED, caps: [{ scope: "key", period: "month", ...amounts }] };
};

describe("formatHeadroom", () => {
  it("says nothing without a cap, and nothing far from one", () => {
    expect(formatHeadroom(ADMITTED)).toEqual([]);
    expect(formatHeadroom(capped(899n))).toEqual([]);
  });

  it("says what the tightest cap leaves, from its first alert on", () => {
    expect(Object.fromEntries(formatHeadroom(capped(950n)))).toMatchObject({
      "x-budget-remaining": "0.50 USD",
      "x-budget-scope": "key",
      "x-budget-period": "month",
      "x-budget-resets-at": "2026-12-01T00:00:00Z",
    });
  });

  it("says a percentage alone where clients are told no amounts", () => {
    const hidden = { ...ADMITTED.organization, hideAmounts: true };
    const group = { scope: "group", period: "total", cents: 100, raisedCents: 0 } as const;
    const caps = [{ ...group, spentMicrocents: 95n * CENT, ownMicrocents: 0n }];
    expect(formatHeadroom({ ...ADMITTED, organization: hidden, caps })).toEqual([
      ["x-budget-used-percent", "95"],
    ]);
    expect(formatHeadroom({ ...ADMITTED, caps }).map(([name]) => name)).not.toContain("x-budget-resets-at");
  });
});
