import { describe, expect, it } from "vitest";
import { readServiceTier } from "../../../../src/data-path/translation/upstream/usage.ts";

const vertex = (type: string) => ({ usage: { extra_properties: { google: { traffic_type: type } } } });

describe("readServiceTier", () => {
  it.each([
    { name: "beside the usage", answer: { service_tier: "flex" }, tier: "flex" },
    { name: "in the usage", answer: { service_tier: null, usage: { service_tier: "batch" } }, tier: "batch" },
    { name: "as a speed", answer: { usage: { service_tier: "standard", speed: "fast" } }, tier: "fast" },
    { name: "as no speed", answer: { usage: { service_tier: "batch", speed: "standard" } }, tier: "batch" },
    { name: "as a place", answer: { usage: { service_tier: "standard", inference_geo: "US" } }, tier: "us" },
    { name: "as no place", answer: { usage: { inference_geo: "not_available" } }, tier: null },
    { name: "as both", answer: { usage: { speed: "fast", inference_geo: "us" } }, tier: "fast-us" },
    { name: "in capitals", answer: { service_tier: "ON_DEMAND" }, tier: "on_demand" },
    { name: "not at all", answer: { usage: null }, tier: null },
    { name: "as nothing", answer: { service_tier: "" }, tier: null },
    { name: "as Vertex's flex", answer: vertex("ON_DEMAND_FLEX"), tier: "flex" },
    { name: "as Vertex's priority", answer: vertex("ON_DEMAND_PRIORITY"), tier: "priority" },
    { name: "as Vertex's default", answer: vertex("ON_DEMAND"), tier: "on_demand" },
    { name: "beside the tokens", answer: { usage: { traffic_type: "ON_DEMAND_FLEX" } }, tier: "flex" },
    { name: "in Vertex's own spelling", answer: { usage: { trafficType: "ON_DEMAND_FLEX" } }, tier: "flex" },
    { name: "as a number", answer: { service_tier: 3 }, tier: null },
    { name: "at any length", answer: { service_tier: "x".repeat(100) }, tier: "x".repeat(32) },
  ])("reads a tier that is told $name", ({ answer, tier }) => {
    expect(readServiceTier(answer)).toBe(tier);
  });
});
