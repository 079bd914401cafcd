import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { SendOptions } from "./fault-load.ts";
import { IS_LONG, runScenario } from "./fault-scenario.ts";
import { type FaultStack, startFaultStack } from "./fault-stack.ts";
import { START_TIMEOUT_MS } from "./machine.ts";
import { restartStack } from "./restart.ts";

const ANSWERS = IS_LONG ? 300 : 25;
/** Long enough for several progress charges of each stream. */
const STREAM = { isStream: true, guessedTokens: 1_500, outputTokens: 100, tokenMs: 30 };
/** What asks whether the cap is reached while streams are open. */
const SHORT = { isStream: false, outputTokens: 1, tokenMs: 100 };

let faults: FaultStack;
beforeAll(async () => {
  faults = await startFaultStack();
}, START_TIMEOUT_MS);
afterAll(() => faults?.stop(), 60_000);

describe("no default cap refuses before so much is used, streams open, though the gateway guesses prompts wrong", () => {
  // In this order: what the first one teaches the gateway is nine times too much for the second.
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
        fault: ({ answered }) => answered(ANSWERS),
        vary,
        judgesRefusalsByTime: true,
        allowsFailures: false,
      }),
    ).toEqual([]);
  });
});

it("nothing of it changes when the gateway is stopped, its usage verified and rebuilt, and it starts again", async () => {
  expect(await restartStack(faults, { isLogShort: false })).toEqual([]);
});
