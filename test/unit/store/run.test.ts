import { Redis } from "ioredis";
import { describe, expect, it } from "vitest";
import { monthAt } from "../../../src/shared/time/calendar.ts";
import type { StoreContext } from "../../../src/data-path/store/context.ts";
import { TurnBatches } from "../../../src/data-path/store/redis/turn-batches.ts";
import { createRun } from "../../../src/data-path/store/run.ts";
import { NO_OWN_SPEND } from "../../../src/shared/stored/own-spend.ts";

/** Connects to nothing. */
const context: StoreContext = {
  client: new Redis({ lazyConnect: true }),
  usageMonths: 13,
  month: { current: monthAt(0) },
  alerts: { fired: 0 },
  admissions: new TurnBatches(),
  singleCharges: new TurnBatches(),
  spendFalls: { interim: 0, reaped: 0, correction: 0 },
  sessions: { uncapped: 0 },
  ownSpend: NO_OWN_SPEND,
};

function open({ isOpen = true } = {}) {
  const ended: (readonly [operation: string, isFailed: boolean])[] = [];
  const meter = {
    ended: (operation: string, durationMs: number, isFailed: boolean) => {
      expect(durationMs).toBeGreaterThanOrEqual(0);
      ended.push([operation, isFailed]);
    },
  };
  return { ended, run: createRun({ context, isOpen: () => isOpen, meter }) };
}

describe("run", () => {
  it("gives the commands their context and the caller their answer, and tells of it once", async () => {
    const { run, ended } = open();
    expect(await run("timeMs", async (given) => given.usageMonths)).toBe(13);
    expect(ended).toEqual([["timeMs", false]]);
  });

  it("tells of a failure before the caller hears of it, and hands on its error", async () => {
    const { run, ended } = open();
    const error = new Error("away");
    await expect(run("charge", () => Promise.reject(error))).rejects.toBe(error);
    expect(ended).toEqual([["charge", true]]);
  });

  it("sends nothing while the store is not open", async () => {
    const { run, ended } = open({ isOpen: false });
    const commands = () => {
      throw new Error("was asked");
    };
    await expect(run("charge", commands)).rejects.toThrow("Redis has not answered since the start");
    expect(ended).toEqual([]);
  });
});
