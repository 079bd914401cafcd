import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { GraceSpend } from "../../../src/grace/grace-spend.ts";
import type { ChargeInput } from "../../../src/store/types/settlement.ts";

const REQUEST = { organizationId: "org_1", keyId: "key_1", requestId: "req_1", month: "2026-11" };

function charge(totalMicrocents: bigint, sequence: number, isFinal = false): ChargeInput {
  return {
    ...REQUEST,
    day: "2026-11-21",
    model: "acme/echo-small",
    route: "POST /v1/chat/completions",
    totalMicrocents,
    sequence,
    tokens: { input: 0, cachedInput: 0, output: 0, reasoning: 0 },
    requests: 1,
    estimated: false,
    estimate: null,
    final: isFinal ? { status: 200, errorCode: null, checks: [] } : null,
  };
}

describe("GraceSpend", () => {
  it("knows of each key and organization what was counted and what of it Redis has not acknowledged", () => {
    const spend = new GraceSpend();
    spend.counted(REQUEST, 5n);
    spend.counted({ ...REQUEST, keyId: "key_2", requestId: "req_2" }, 7n);
    spend.acknowledged(charge(5n, 1));
    spend.counted(REQUEST, 8n);
    expect(spend.of(REQUEST)).toEqual({
      key: { counted: 8n, unacknowledged: 3n },
      organization: { counted: 15n, unacknowledged: 10n },
    });
    expect(spend.of({ ...REQUEST, month: "2026-12" }).key).toEqual({ counted: 0n, unacknowledged: 0n });
  });

  it("passes over an acknowledgement that is older than one before", () => {
    const spend = new GraceSpend();
    spend.counted(REQUEST, 9n);
    spend.acknowledged(charge(9n, 2));
    spend.acknowledged(charge(4n, 0));
    expect(spend.of(REQUEST).key).toEqual({ counted: 9n, unacknowledged: 0n });
  });

  it("passes over what it never counted: an earlier process's", () => {
    const spend = new GraceSpend();
    spend.acknowledged(charge(9n, 2, true));
    expect(spend.of(REQUEST).key).toEqual({ counted: 0n, unacknowledged: 0n });
  });

  it("has nothing unacknowledged once every request has its final acknowledgement, whatever was lost before", () => {
    const steps = fc.array(fc.tuple(fc.bigInt({ min: 0n, max: 100n }), fc.boolean()), { minLength: 1 });
    fc.assert(
      fc.property(steps, (totals) => {
        const spend = new GraceSpend();
        totals.forEach(([total, isAcknowledged], index) => {
          spend.counted(REQUEST, total);
          if (isAcknowledged) spend.acknowledged(charge(total, index + 1));
        });
        const last = totals.at(-1)![0];
        spend.acknowledged(charge(last, totals.length + 1, true));
        expect(spend.of(REQUEST).key).toEqual({ counted: last, unacknowledged: 0n });
      }),
    );
  });
});
