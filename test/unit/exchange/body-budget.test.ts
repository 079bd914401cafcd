import { describe, expect, it } from "vitest";
import { BodyBudget } from "../../../src/exchange/body-budget.ts";

describe("BodyBudget", () => {
  it("refuses what would pass the bound, and takes it when there is room again", () => {
    const budget = new BodyBudget({ maxBodyBytes: 100, maxHeldBytes: 100 });
    budget.hold(60);
    expect(() => budget.hold(41)).toThrow(expect.objectContaining({ code: "gateway_overloaded" }));
    budget.release(60);
    budget.hold(41);
    expect(budget.heldBytes).toBe(41);
  });

  it("takes a single body that is larger than the bound of all", () => {
    const budget = new BodyBudget({ maxBodyBytes: 1000, maxHeldBytes: 10 });
    budget.hold(1000);
    expect(budget.heldBytes).toBe(1000);
  });

  it("refuses a body over the limit of one, and says both figures", () => {
    const budget = new BodyBudget({ maxBodyBytes: 1000, maxHeldBytes: 10_000 });
    expect(() => budget.hold(1001)).toThrow(
      "The request body has 1001 bytes; this gateway takes at most 1000.",
    );
    expect(budget.heldBytes).toBe(0);
  });
});
