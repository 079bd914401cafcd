/** The statistics of `npm run bench -- --against`: an interval that holds what it claims, ratios from turns, calls from Redis. */
import { describe, expect, it } from "vitest";
import { parseCommandCalls } from "../bench/against/gateway.ts";
import { compareRounds, findInterval } from "../bench/against/ratios.ts";
import { formatFailures, formatResults, summarizeRounds } from "../bench/against/report.ts";
import { type Pair, type Round, takeTurns, type Turn } from "../bench/against/rounds.ts";

describe("the interval of a median", () => {
  it.each([
    [1, 0, 0],
    [5, 0, 0.9375],
    [6, 0, 0.96875],
    [10, 1, 0.978515625],
    [20, 5, 0.958610534],
  ])("of %i rounds leaves out %i at each end", (count, outside, confidence) => {
    expect(findInterval(count).outside).toBe(outside);
    expect(findInterval(count).confidence).toBeCloseTo(confidence, 8);
  });

  it("contains the true ratio as often as it claims, with noise that is not symmetric", () => {
    const random = createRandom();
    // Median 1.03; disturbances only ever slow things down.
    const draw = (): number => 1.03 * (random() < 0.5 ? 1 - 0.02 * random() : 1 + 0.3 * random());
    const runs = 4_000;
    let hits = 0;
    for (let run = 0; run < runs; run += 1) {
      const { low = 0, high = 0 } = compareRounds(Array.from({ length: 10 }, draw)) ?? {};
      if (low <= 1.03 && 1.03 <= high) hits += 1;
    }
    expect(Math.abs(hits / runs - findInterval(10).confidence)).toBeLessThan(0.01);
  });

  it("tells a difference of 3 % from none when rounds vary by 2 %", () => {
    const random = createRandom();
    const rounds = (ratio: number) => Array.from({ length: 10 }, () => ratio * (1 + 0.04 * (random() - 0.5)));
    expect(compareRounds(rounds(1.03))?.verdict).toBe("more");
    expect(compareRounds(rounds(0.97))?.verdict).toBe("less");
    expect(compareRounds(rounds(1))?.verdict).toBe("same");
  });

  it("says nothing of few rounds, of wide intervals, and of what neither build does", () => {
    expect(compareRounds([2, 2, 2, 2])?.verdict).toBe("open");
    expect(compareRounds([0.8, 0.9, 1.2, 1.3, 1.1, 0.95])?.verdict).toBe("open");
    expect(compareRounds([Number.NaN, Number.NaN])).toBeNull();
  });
});

describe("rounds of two builds", () => {
  const turn = (sidecar: number, fields: Partial<Turn> = {}): Turn => ({
    requests: 100,
    failures: 0,
    cpuMs: { sidecar, envoy: 1, redis: 1, supervisor: 0 },
    scriptCalls: 2,
    redisCommands: 20,
    requestsPerSecond: 1_000,
    p50Ms: 1,
    ...fields,
  });
  const round = (...pairs: Pair<Turn>[]): Round => ({ "1k warm": pairs });

  it("swap who goes first and keep who is who", async () => {
    const order: string[] = [];
    const run = async (name: string): Promise<string> => {
      order.push(name);
      return name;
    };
    const pairs = [await takeTurns(0, ["own", "other"], run), await takeTurns(1, ["own", "other"], run)];
    expect(pairs).toEqual([
      ["own", "other"],
      ["own", "other"],
    ]);
    expect(order).toEqual(["own", "other", "other", "own"]);
  });

  it("give the median of the rounds, each the median of its turns, so that one disturbed turn counts for nothing", () => {
    const rounds = [
      round([turn(1.1), turn(1)], [turn(2.2), turn(2)], [turn(9), turn(1)]),
      round([turn(1.2), turn(1)]),
      round([turn(1.3), turn(1)]),
    ];
    const [sidecar] = summarizeRounds(rounds);
    expect(sidecar?.ratios.map((ratio) => ratio.toFixed(3))).toEqual(["1.100", "1.200", "1.300"]);
    expect(sidecar?.comparison?.ratio).toBe(1.2);
  });

  it("are printed by row and figure, with how to read them; failures are counted by row and build", () => {
    const failing = turn(1.1, { failures: 3, scriptCalls: 4 });
    const rounds = Array.from({ length: 6 }, () => round([failing, turn(1)]));
    const text = formatResults(summarizeRounds(rounds), { id: "d7f525d5", subject: "fix" });
    expect(text).toMatch(
      /\| 1k warm \| +sidecar CPU, ms \| +1\.00 \| +1\.10 \| 1\.100 \| +1\.100 to 1\.100 \| more \|/u,
    );
    expect(text).toMatch(/script calls \| +2\.00 \| +4\.00 \| 2\.000 /u);
    expect(text).toMatch(/supervisor CPU, ms \| +0\.00 \| +0\.00 \| +\| +\| +\|/u);
    expect(text).toContain("96 % interval");
    expect(formatFailures(rounds, { id: "d7f525d5", subject: "fix" })).toEqual([
      "1k warm: 18 requests of this tree failed, 0 of d7f525d5",
    ]);
  });
});

it("counts Redis's script calls and commands, without the command that asks", () => {
  const stats = [
    "# Commandstats",
    "cmdstat_evalsha:calls=40,usec=1,usec_per_call=1.00,rejected_calls=0,failed_calls=0",
    "cmdstat_eval:calls=2,usec=1,usec_per_call=1.00,rejected_calls=0,failed_calls=0",
    "cmdstat_hget:calls=100,usec=1,usec_per_call=1.00,rejected_calls=0,failed_calls=0",
    "cmdstat_config|get:calls=3,usec=1,usec_per_call=1.00,rejected_calls=0,failed_calls=0",
    "cmdstat_info:calls=9,usec=1,usec_per_call=1.00,rejected_calls=0,failed_calls=0",
  ].join("\r\n");
  expect(parseCommandCalls(stats)).toEqual({ scriptCalls: 42, redisCommands: 145 });
});

/** The same numbers in each run. */
function createRandom(): () => number {
  let state = 42;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
