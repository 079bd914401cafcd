import { describe, expect, it } from "vitest";
import { Backoff } from "../../../src/operation/supervisor/backoff.ts";

const create = () => new Backoff({ firstMs: 100, maxMs: 5_000, soundAfterMs: 10_000 });

describe("Backoff", () => {
  it("doubles from the first wait up to the longest", () => {
    const backoff = create();
    const waits = Array.from({ length: 8 }, () => backoff.nextDelayMs(50));
    expect(waits).toEqual([100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000]);
  });

  it("begins again after a sound life", () => {
    const backoff = create();
    backoff.nextDelayMs(50);
    backoff.nextDelayMs(50);
    expect(backoff.nextDelayMs(10_000)).toBe(100);
    expect(backoff.nextDelayMs(50)).toBe(200);
  });

  it("stays at the longest wait however often it is asked", () => {
    const backoff = create();
    for (let count = 0; count < 2_000; count += 1) backoff.nextDelayMs(0);
    expect(backoff.nextDelayMs(0)).toBe(5_000);
  });
});
