import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { IS_LONG, runScenario } from "./fault-scenario.ts";
import { type FaultStack, startFaultStack } from "./fault-stack.ts";
import { START_TIMEOUT_MS } from "./machine.ts";
import { restartStack } from "./restart.ts";

const ANSWERS = IS_LONG ? 750 : 50;

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

it("nothing of it changes when the gateway is stopped, its usage verified and rebuilt, and it starts again", async () => {
  expect(await restartStack(faults, { isLogShort: false })).toEqual([]);
});
