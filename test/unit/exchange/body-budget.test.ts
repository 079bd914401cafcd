import { describe, expect, it } from "vitest";
import { GatewayError } from "../../../src/shared/contract/errors.ts";
import { BodyBudget } from "../../../src/data-path/exchange/bodies/body-budget.ts";
import type { BodyOwner } from "../../../src/data-path/exchange/bodies/body-owner.ts";

const LIMITS = { maxBodyBytes: 1_000, maxUpstreamBytes: 1_200, maxBufferedBytes: 1_000 };

function ownerOf(keyId: string, organizationId: string): BodyOwner {
  return { keyId, keyName: `name of ${keyId}`, organizationId };
}

function refusal(act: () => void): string {
  try {
    act();
    return "held";
  } catch (thrown) {
    const error = GatewayError.from(thrown);
    return `${error.status("chat")} ${error.code} ${error.message}`;
  }
}

/** So many bytes in all, in pieces of 1, until it is refused. */
function fill(budget: BodyBudget, owner: BodyOwner): { readonly bytes: number; readonly told: string } {
  for (let bytes = 0; ; bytes += 1) {
    const told = refusal(() => budget.take(owner, 1));
    if (told !== "held") return { bytes, told };
  }
}

describe("what a worker holds of bodies", () => {
  it("has three eighths for a key, half for its organization, and gives it back", () => {
    const budget = new BodyBudget(LIMITS);
    const first = fill(budget, ownerOf("key_1", "org_1"));
    expect(first.bytes).toBe(375);
    expect(first.told).toMatch(
      /^429 buffer_limit_exceeded API key "name of key_1" has reached its share of the gateway's memory/,
    );
    // Three quarters of what the first key has left of the half.
    expect(fill(budget, ownerOf("key_2", "org_1")).bytes).toBe(93);
    for (let key = 3; key < 20; key += 1) fill(budget, ownerOf(`key_${key}`, "org_1"));
    expect(budget.bufferedBytes).toBe(500);
    expect(refusal(() => budget.take(ownerOf("key_1", "org_1"), 1))).toMatch(
      /^429 buffer_limit_exceeded The organization of this API key has reached its share of the gateway's memory/,
    );
    budget.release(ownerOf("key_1", "org_1"), 375);
    expect(refusal(() => budget.take(ownerOf("key_1", "org_1"), 1))).toBe("held");
  });

  it("leaves something to each next organization, which is refused by its own share alone", () => {
    const budget = new BodyBudget(LIMITS);
    for (let organization = 1; organization <= 5; organization += 1) {
      const owner = ownerOf(`key_${organization}`, `org_${organization}`);
      expect(refusal(() => budget.take(owner, 30))).toBe("held");
      expect(fill(budget, owner).told).toMatch(/^429 buffer_limit_exceeded /);
    }
    expect(budget.bufferedBytes).toBeLessThan(LIMITS.maxBufferedBytes);
  });

  it("has room for an owner's only body, whatever its size, and none for its second", () => {
    const budget = new BodyBudget(LIMITS);
    const owner = ownerOf("key_1", "org_1");
    expect(refusal(() => budget.take(owner, 900))).toBe("held");
    expect(refusal(() => budget.take(owner, 1))).toMatch(/^429 buffer_limit_exceeded /);
    expect(refusal(() => budget.take(ownerOf("key_2", "org_1"), 1))).toMatch(/^429 buffer_limit_exceeded /);
    expect(refusal(() => budget.take(ownerOf("key_3", "org_2"), 100))).toBe("held");
  });

  it("is full where many organizations hold it together", () => {
    const budget = new BodyBudget(LIMITS);
    for (let organization = 1; organization <= 9; organization += 1) {
      budget.take(ownerOf(`key_${organization}`, `org_${organization}`), 100);
    }
    expect(refusal(() => budget.take(ownerOf("key_10", "org_10"), 101))).toMatch(/^503 gateway_overloaded /);
    expect(budget.bufferedBytes).toBe(900);
  });

  it("takes a single body that is larger than the bound of all", () => {
    const budget = new BodyBudget({ ...LIMITS, maxBufferedBytes: 10 });
    expect(refusal(() => budget.take(ownerOf("key_1", "org_1"), 1_000))).toBe("held");
  });

  it("refuses a body over the limit of one, and says both figures", () => {
    const budget = new BodyBudget(LIMITS);
    budget.checkBody(1_000);
    expect(() => budget.checkBody(1_001)).toThrow(
      "The request body has more than 1000 bytes, the most that this gateway accepts.",
    );
  });

  it("refuses what has grown too much for its upstream, and says both figures", () => {
    const budget = new BodyBudget(LIMITS);
    budget.checkUpstreamBody(1_200);
    expect(() => budget.checkUpstreamBody(1_201)).toThrow(
      "The request body has 1201 bytes in the model server's format; this gateway sends at most 1200.",
    );
  });
});
