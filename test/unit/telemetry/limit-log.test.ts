import { describe, expect, it } from "vitest";
import { limitLog } from "../../../src/shared/telemetry/limit-log.ts";

function openLog() {
  const state = { nowMs: 0 };
  const lines: unknown[] = [];
  const timers: { readonly atMs: number; readonly run: () => void }[] = [];
  const log = limitLog(
    { error: (fields, message) => void lines.push({ ...fields, message }) },
    {
      clock: { monotonicMs: () => state.nowMs },
      schedule: (run, delayMs) => void timers.push({ atMs: state.nowMs + delayMs, run }),
    },
  );
  const advance = (milliseconds: number): void => {
    const end = state.nowMs + milliseconds;
    for (let next = timers[0]; next !== undefined && next.atMs <= end; next = timers[0]) {
      timers.shift();
      state.nowMs = next.atMs;
      next.run();
    }
    state.nowMs = end;
  };
  return { log, lines, advance, timers };
}

describe("limitLog", () => {
  it("writes the first at once, and in each second after it the newest with the number of the others", () => {
    const { log, lines, advance } = openLog();
    for (let id = 0; id < 3_000; id += 1) {
      log.error({ id }, "broken");
      advance(1);
    }
    advance(1_000);
    expect(lines).toEqual([
      { id: 0, message: "broken" },
      { id: 999, suppressed: 998, message: "broken" },
      { id: 1999, suppressed: 999, message: "broken" },
      { id: 2999, suppressed: 999, message: "broken" },
    ]);
  });

  it("tells every line, written or counted, of a flood of 100,000 at once, with one timer", () => {
    const { log, lines, advance, timers } = openLog();
    for (let id = 0; id < 100_000; id += 1) log.error({ id }, "broken");
    expect([lines.length, timers.length]).toEqual([1, 1]);
    advance(10_000);
    expect(lines).toEqual([
      { id: 0, message: "broken" },
      { id: 99_999, suppressed: 99_998, message: "broken" },
    ]);
  });

  it("writes each of those that come less often than once a second", () => {
    const { log, lines, advance } = openLog();
    for (let id = 0; id < 3; id += 1) {
      log.error({ id }, "broken");
      advance(1_001);
    }
    expect(lines).toEqual([0, 1, 2].map((id) => ({ id, message: "broken" })));
  });

  it("holds up no other message", () => {
    const { log, lines } = openLog();
    log.error({ id: 0 }, "broken");
    log.error({ id: 1 }, "broken");
    log.error({ id: 2 }, "unlike");
    expect(lines).toEqual([
      { id: 0, message: "broken" },
      { id: 2, message: "unlike" },
    ]);
  });
});
