import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { catalogEntry } from "../support/gateway-config.ts";
import { runScenario, WARM_ANSWERS } from "./fault-scenario.ts";
import { type FaultStack, MODEL, startFaultStack } from "./fault-stack.ts";

/**
 * Half of each prompt comes from the cache and half is written to it, so that a prompt token costs a cent again; and the
 * upstream names the tier at the end alone. Whoever charged it as the default, or by another size of prompt, would be
 * wrong by half.
 */
const PRICED = catalogEntry({
  id: MODEL,
  upstream: "counted",
  prices: {
    USD: {
      input: "10000",
      output: "10000",
      tiers: [{ above_prompt_tokens: 20, input: "9000", output: "9000" }],
      service_tiers: {
        flex: {
          input: "15000",
          output: "30000",
          tiers: [
            {
              above_prompt_tokens: 1,
              input: "10000",
              cached_input: "5000",
              cache_write: "15000",
              output: "20000",
            },
          ],
        },
      },
    },
  },
});

let faults: FaultStack;
beforeAll(async () => {
  faults = await startFaultStack({ catalog: [PRICED] });
}, 180_000);
afterAll(() => faults?.stop(), 60_000);

describe("with prices by service tier, size of prompt and cache writes, charged and used agree", () => {
  it("when Redis is killed and restarted while requests are admitted, and charges wait in the spool", async () => {
    const problems = await runScenario(faults, {
      name: "Redis killed, tiers and cache writes",
      outputTokens: 20,
      async fault({ answered }) {
        await answered(WARM_ANSWERS);
        await faults.redis.kill();
        try {
          await answered(30);
        } finally {
          await faults.redis.restart();
        }
        await answered(10);
      },
      allowsFailures: false,
      settleMs: 15_000,
      isGrace: true,
    });
    expect(problems).toEqual([]);
  });
});
