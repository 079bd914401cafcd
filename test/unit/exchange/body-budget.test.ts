import { describe, expect, it } from "vitest";
import { BodyBudget } from "../../../src/exchange/body-budget.ts";

describe("BodyBudget", () => {
  it("refuses what would pass the bound, and takes it when there is room again", () => {
    const budget = new BodyBudget(100);
    expect(budget.take(60)).toBe(true);
    expect(budget.take(41)).toBe(false);
    budget.give(60);
    expect(budget.take(41)).toBe(true);
  });

  it("takes a single body of any size, which the limit of one body bounds", () => {
    expect(new BodyBudget(10).take(1000)).toBe(true);
  });
});
