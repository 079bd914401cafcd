import { describe, expect, it } from "vitest";
import { BodyBudget } from "../../../src/exchange/body-budget.ts";
import { HeldBody } from "../../../src/exchange/held-body.ts";

describe("BodyBudget", () => {
  it("refuses what would pass the bound, and takes it when there is room again", () => {
    const budget = new BodyBudget({ maxBodyBytes: 100, maxUpstreamBytes: 120, maxBufferedBytes: 100 });
    budget.reserve(60);
    expect(() => budget.reserve(41)).toThrow(expect.objectContaining({ code: "gateway_overloaded" }));
    budget.release(60);
    budget.reserve(41);
    expect(budget.bufferedBytes).toBe(41);
  });

  it("takes a body of any size, and what is made of it, beside a quarter of the bound that others keep", () => {
    const budget = new BodyBudget({ maxBodyBytes: 100, maxUpstreamBytes: 120, maxBufferedBytes: 100 });
    budget.hold(25);
    const body = new HeldBody(budget);
    body.reserve(90);
    body.add(200);
    expect(budget.bufferedBytes).toBe(315);
    const second = new HeldBody(budget);
    expect(() => second.reserve(1)).toThrow(expect.objectContaining({ code: "gateway_overloaded" }));
    body.letGo(10);
    second.reserve(40);
    expect(() => second.add(30)).toThrow(expect.objectContaining({ code: "gateway_overloaded" }));
    second.letGo(0);
    body.letGo(20);
    expect(budget.bufferedBytes).toBe(35);
  });

  it("takes a single body that is larger than the bound of all", () => {
    const budget = new BodyBudget({ maxBodyBytes: 1000, maxUpstreamBytes: 1200, maxBufferedBytes: 10 });
    budget.reserve(1000);
    expect(budget.bufferedBytes).toBe(1000);
  });

  it("refuses a body over the limit of one, and says both figures", () => {
    const budget = new BodyBudget({ maxBodyBytes: 1000, maxUpstreamBytes: 1200, maxBufferedBytes: 10_000 });
    expect(() => budget.reserve(1001)).toThrow(
      "The request body has 1001 bytes; this gateway takes at most 1000.",
    );
    expect(budget.bufferedBytes).toBe(0);
  });

  it("refuses what has grown too much for its upstream, and says both figures", () => {
    const budget = new BodyBudget({ maxBodyBytes: 1000, maxUpstreamBytes: 1200, maxBufferedBytes: 10_000 });
    budget.checkUpstreamBody(1200);
    expect(() => budget.checkUpstreamBody(1201)).toThrow(
      "The request body has 1201 bytes in the form that the model's server takes; this gateway sends at most 1200.",
    );
  });
});
