import { describe, expect, it } from "vitest";
import { OutputMeans } from "../../../src/data-path/limits/output-means.ts";

const of = (keyId: string, organizationId = "org_1") => ({ organizationId, keyId });

describe("OutputMeans", () => {
  it("knows a key's own mean, and its organization's for a key without requests", () => {
    const means = new OutputMeans();
    expect(means.of(of("key_1"))).toBe(0);
    means.learn(of("key_1"), 100);
    means.learn(of("key_1"), 301);
    means.learn(of("key_2"), 1_000);
    expect(means.of(of("key_1"))).toBe(201);
    expect(means.of(of("key_3"))).toBe(467);
    expect(means.of(of("key_4", "org_2"))).toBe(0);
  });

  it("follows what a key uses now within some requests", () => {
    const means = new OutputMeans();
    for (let request = 0; request < 1_000; request += 1) means.learn(of("key_1"), 1);
    for (let request = 0; request < 32; request += 1) means.learn(of("key_1"), 100_000);
    expect(means.of(of("key_1"))).toBeGreaterThan(80_000);
  });
});
