import { describe, expect, it } from "vitest";
import { createPrice, type GivenPrice } from "../../../src/data-path/pricing/price.ts";
import { refuseUnpricedTier } from "../../../src/data-path/settlement/refuse-tier.ts";
import type { ClientRequest } from "../../../src/data-path/translation/client-protocol.ts";
import { describeError } from "../../support/messages-exchange.ts";

const GIVEN: GivenPrice = {
  from: null,
  input: 1n,
  output: 2n,
  tiers: [],
  serviceTiers: [],
};
const FLEX = createPrice({ ...GIVEN, serviceTiers: [{ name: "flex", input: 1n, output: 1n, tiers: [] }] });
const NONE = createPrice(GIVEN);

type Field = ClientRequest["tierField"];

function refusal(price: typeof NONE, asked: string | null, field: Field = "service_tier"): string {
  return describeError(() =>
    refuseUnpricedTier(price, { id: "acme/x" }, { serviceTier: asked, tierField: field }),
  );
}

function pass(price: typeof NONE, asked: string | null, field: Field = "service_tier"): void {
  refuseUnpricedTier(price, { id: "acme/x" }, { serviceTier: asked, tierField: field });
}

describe("a service tier that a request asks for", () => {
  it("is refused with those that have a price", () => {
    expect(refusal(FLEX, "priority")).toBe(
      "400 invalid_parameter `service_tier` must be `auto`, `default` or `flex` for the model `acme/x`: no other tier has a price.",
    );
  });

  it("passes where it has a price, where none is asked for, and where the model has no tiers at all", () => {
    expect(() => pass(FLEX, "flex")).not.toThrow();
    expect(() => pass(FLEX, "auto")).not.toThrow();
    expect(() => pass(FLEX, null)).not.toThrow();
    expect(() => pass(NONE, "priority")).not.toThrow();
  });

  it("is refused for a speed or a place that has no price, with the setting that gives it one", () => {
    const told = refusal(NONE, "fast", "speed");
    expect(told).toContain("400 unsupported_parameter speed: the model `");
    expect(told).toContain("`service_tiers: {fast: …}`");
  });
});
