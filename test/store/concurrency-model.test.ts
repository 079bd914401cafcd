import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { inflightKey } from "../../src/data-path/store/redis/keys.ts";
import { runs } from "../support/extent.ts";
import { canSetClock, microseconds, openTimedStore, type TimedStore } from "./clock-fixture.ts";
import { ConcurrencyRun, type Move, type Step } from "./concurrency-run.ts";
import { connectStore, createTestKey, type StoreUnderTest } from "./fixture.ts";

const START = microseconds("2026-09-09T09:09:09Z");
const CLIENTS = 8;

const MOVES: readonly Move[] = [
  "admit",
  "cancel",
  "vanish",
  "upload",
  "uploadTwice",
  "end",
  "endTwice",
  "die",
];
const move = fc.record({
  client: fc.integer({ min: 0, max: CLIENTS - 1 }),
  move: fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom<Move>("admit", "upload") },
    { weight: 2, arbitrary: fc.constantFrom(...MOVES) },
  ),
});
const round = fc.uniqueArray(move, { minLength: 1, maxLength: CLIENTS, selector: ({ client }) => client });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 10, arbitrary: round.map((moves) => ({ kind: "round" as const, moves })) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("limit" as const), limit: fc.constantFrom(null, 1, 2, 3) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("wait" as const),
      milliseconds: fc.constantFrom(1, 999, 1_000, 1_001, 9_000),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom("reap" as const, "late" as const) }) },
);

let timed: TimedStore;
let other: StoreUnderTest;
beforeAll(async () => {
  if (!canSetClock) return;
  timed = await openTimedStore(START);
  other = await connectStore(timed.address);
});
afterAll(async () => {
  if (!canSetClock) return;
  await other.stop();
  await timed.stop();
});

describe.skipIf(!canSetClock)(
  "a limit of concurrent requests (sets Redis's clock: takes Linux and cc)",
  () => {
    it("is never passed and never refuses with a slot free, however two workers' commands interleave, repeat or come late", async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.constantFrom(null, 1, 2, 3),
          fc.array(step, { minLength: 10, maxLength: 60, size: "max" }),
          async (limit, steps) => {
            timed.clock.set(START);
            const key = await createTestKey(timed.store, { requestsPerMinute: 100_000 });
            const run = new ConcurrencyRun(
              [timed.store, other.store],
              key,
              timed.clock,
              Number(START / 1_000n),
            );
            await run.apply({ kind: "limit", limit });
            for (const each of steps) await run.apply(each);
            await run.apply({ kind: "limit", limit: 1 });
            for (const client of [0, 1]) {
              // Whatever was there is over: the first finds the only slot, the second none.
              if (client === 0) await run.finish(async () => 0);
              const moves = [{ client, move: "admit" as const }];
              await run.apply({ kind: "round", moves });
              await run.apply({ kind: "round", moves: [{ client, move: "upload" }] });
            }
            const { organizationId, keyId } = key;
            expect(await timed.client.zcard(inflightKey(organizationId, keyId))).toBe(1);
          },
        ),
        { numRuns: runs(120) },
      );
    }, 120_000);
  },
);
