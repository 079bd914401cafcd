import { describe, expect, it } from "vitest";
import { BodyBudget } from "../../../src/exchange/body-budget.ts";
import { CollectedBody } from "../../../src/exchange/collected-body.ts";

function createBody(limits = { maxBodyBytes: 10, maxUpstreamBytes: 11, maxBufferedBytes: 20 }) {
  const budget = new BodyBudget(limits);
  return { budget, body: new CollectedBody({ budget, maxBytes: 12 }) };
}

describe("CollectedBody", () => {
  it("is all of its pieces in order, and one piece as it came", () => {
    const { body, budget } = createBody();
    const only = Buffer.from("only");
    expect(body.add(only, "upstream_error")).toBeNull();
    expect(body.add(undefined, "upstream_error")).toBeNull();
    expect(body.take()).toBe(only);
    for (const piece of ["a", "", "bc"]) body.add(Buffer.from(piece), "upstream_error");
    expect(budget.bufferedBytes).toBe(3);
    expect(Buffer.from(body.take()).toString()).toBe("abc");
    expect(body.take()).toHaveLength(0);
    expect(budget.bufferedBytes).toBe(0);
  });

  it.each(["request_too_large", "upstream_error"] as const)(
    "says %s over its bound, and keeps no more",
    (code) => {
      const { body, budget } = createBody();
      expect(body.add(Buffer.alloc(12), code)).toBeNull();
      expect(body.add(Buffer.alloc(1), code)).toMatchObject({ code });
      expect(budget.bufferedBytes).toBe(12);
    },
  );

  it("says gateway_overloaded where all bodies together are too much", () => {
    const { body, budget } = createBody();
    budget.hold(15);
    expect(body.add(Buffer.alloc(6), "upstream_error")).toMatchObject({ code: "gateway_overloaded" });
    expect(body.take()).toHaveLength(0);
    expect(budget.bufferedBytes).toBe(15);
  });
});
