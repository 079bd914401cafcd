import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Answer } from "../../../src/translation/client-protocol.ts";
import { NOTHING_YET, OK } from "./account-fixture.ts";
import { createOpenInput, createSettlement } from "./settlement-fixture.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** When a stream that goes on and on is charged, in milliseconds since it went upstream. */
async function chargesOf(openedAfterMs: number, seconds: number): Promise<number[]> {
  const atMs: number[] = [];
  const charge = () => {
    atMs.push(performance.now());
    return Promise.resolve({ outcome: "applied" as const });
  };
  const { settlement } = createSettlement({ charge });
  settlement.start();
  await vi.advanceTimersByTimeAsync(openedAfterMs);
  const input = createOpenInput();
  const account = await settlement.open({ ...input, model: { ...input.model, maxOutputTokens: 10_000 } });
  const openedMs = performance.now();
  const seen = { ...NOTHING_YET };
  account.observe({ observation: seen } as Answer);
  for (let ms = 0; ms < seconds * 1_000; ms += 10) {
    seen.generatedDeltas += 1;
    seen.generatedBytes += 4;
    await vi.advanceTimersByTimeAsync(10);
  }
  const charged = atMs.map((ms) => ms - openedMs);
  await account.settle("complete", OK);
  await settlement.stop(1_000);
  return charged;
}

describe("a stream in flight", () => {
  it.each([0, 1, 100, 249, 250, 1_400])(
    "is charged 1.25 s after it went upstream and every 1.5 s at the latest, whenever it began (%d ms)",
    async (openedAfterMs) => {
      const charges = await chargesOf(openedAfterMs, 12);
      const waits = charges.map((ms, index) => ms - (charges[index - 1] ?? 0));
      expect(charges.length).toBeGreaterThanOrEqual(8);
      expect(waits[0]).toBeLessThanOrEqual(1_250);
      expect(Math.max(...waits)).toBeLessThanOrEqual(1_500);
      expect(Math.min(...waits.slice(1))).toBeGreaterThanOrEqual(1_250);
    },
  );
});
