import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { byExtent } from "../support/extent.ts";
import type { SendOptions } from "./fault-load.ts";
import { IS_LONG, runScenario } from "./fault-scenario.ts";
import { type FaultStack, startFaultStack } from "./fault-stack.ts";
import { START_TIMEOUT_MS } from "./machine.ts";
import { restartStack } from "./restart.ts";

/** The capped key has then met its cap. */
const ANSWERS = IS_LONG ? 750 : 40;
const GUESSED_ANSWERS = IS_LONG ? 300 : 25;
/** Long enough for several progress charges of each stream. */
const STREAM = { isStream: true, guessedTokens: 1_500, outputTokens: 100, tokenMs: 30 };
/** What asks whether the cap is reached while streams are open. */
const SHORT = { isStream: false, outputTokens: 1, tokenMs: 100 };

let faults: FaultStack;
beforeAll(async () => {
  faults = await startFaultStack();
}, START_TIMEOUT_MS);
afterAll(() => faults?.stop(), 60_000);

describe("charged and used agree", () => {
  it("without a fault", async () => {
    expect(
      await runScenario(faults, {
        name: "no fault",
        fault: ({ answered }) => answered(ANSWERS),
        allowsFailures: false,
      }),
    ).toEqual([]);
  });

  it("when clients go away at any point", async () => {
    expect(
      await runScenario(faults, {
        name: "clients abort",
        fault: ({ answered }) => answered(ANSWERS),
        abortWithinMs: 700,
        allowsFailures: false,
      }),
    ).toEqual([]);
  });

  it("when kept connections are lost after long work, to the microcent", async () => {
    expect(
      await runScenario(faults, {
        name: "lost connections",
        fault: ({ answered }) => answered(ANSWERS),
        vary: (options) => ({ ...options, ...(Math.random() < 0.2 && { behavior: "lost" }) }),
        allowsFailures: true,
      }),
    ).toEqual([]);
  });

  it("when clients go away and the upstream resets, hangs, fails, or tells no usage or a wrong one", async () => {
    expect(
      await runScenario(faults, {
        name: "upstream faults",
        fault: ({ answered }) => answered(ANSWERS),
        behaviors: ["reset", "hang", "no_usage", "wrong_usage", "status_500"],
        abortWithinMs: 3_000,
        allowsFailures: true,
      }),
    ).toEqual([]);
  });
});

describe("no default cap refuses before so much is used, streams open, though the gateway guesses prompts wrong", () => {
  // Last and in this order: what the first one teaches the gateway is nine times too much for the second.
  it.each([
    ["three times", 3],
    ["a third", 1 / 3],
  ])("when prompts have %s of the tokens that it guesses", async (words, tokensPerGuess) => {
    const vary = (options: SendOptions): SendOptions => ({
      ...options,
      ...(Math.random() < 0.5 ? STREAM : SHORT),
      tokensPerGuess,
    });
    expect(
      await runScenario(faults, {
        name: `prompts of ${words} of the guess`,
        fault: ({ answered }) => answered(GUESSED_ANSWERS),
        vary,
        judgesRefusalsByTime: true,
        allowsFailures: false,
      }),
    ).toEqual([]);
  });
});

// On each push redis.test.ts, workers.test.ts and shutdown.test.ts show it of what they have done.
it.each(byExtent({ push: [], nightly: ["stopped"] }))(
  "nothing of it changes when the gateway is %s, its usage verified and rebuilt, and it starts again",
  async () => {
    expect(await restartStack(faults, { isLogShort: false })).toEqual([]);
  },
);
