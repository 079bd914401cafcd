import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RequestIdentity } from "../../src/shared/stored/settlement.ts";
import { runs } from "../support/extent.ts";
import { canSetClock, openTimedStore, type TimedStore } from "./clock-fixture.ts";
import { addTestKey, chargeInput, createIdentity, createTestKey, FINAL, openRecordInput } from "./fixture.ts";
import { type ChargeStep, KEYS, REQUESTS, START, type Step } from "./spend-model.ts";
import { SpendRun } from "./spend-run.ts";

const request = fc.integer({ min: 0, max: REQUESTS - 1 });
const total = fc.oneof(
  fc.bigInt({ min: 0n, max: 2_000n }),
  fc.constantFrom(10n ** 14n - 1n, 10n ** 14n, 10n ** 14n + 1n, 2n ** 53n - 1n),
);
const charge: fc.Arbitrary<ChargeStep> = fc.record({
  kind: fc.constant("charge" as const),
  request,
  sequence: fc.integer({ min: 1, max: 6 }),
  total,
  estimate: total,
  tokens: fc.integer({ min: 0, max: 1_000_000 }),
  final: fc.boolean(),
  brief: fc.boolean(),
});
const charges = fc.uniqueArray(charge, {
  minLength: 2,
  maxLength: REQUESTS,
  selector: (each) => each.request,
});
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom("open" as const, "renew" as const), request }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("forget" as const), request }) },
  { weight: 8, arbitrary: charge },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("charges" as const), charges }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("wait" as const),
      milliseconds: fc.constantFrom(1, 29_999, 30_000, 30_000, 86_400_000),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("close" as const), stale: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("replay" as const) }) },
);

/** Day of all requests: a past one, so that its sums are stored from the first reading on. */
const DAY_BEFORE = "2026-07-06";

let timed: TimedStore;
beforeAll(async () => {
  if (canSetClock) timed = await openTimedStore(START);
});
afterAll(async () => {
  if (canSetClock) await timed.stop();
});

describe.skipIf(!canSetClock)("what requests cost (sets Redis's clock: takes Linux and cc)", () => {
  it("is what a plain model says after every step, in whatever order commands come, repeat or get lost", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.boolean(),
        fc.constantFrom(null, 1, 2),
        fc.array(step, { minLength: 1, maxLength: 40, size: "max" }),
        async (strictCaps, maxConcurrentRequests, steps) => {
          timed.clock.set(START);
          const limit = { maxConcurrentRequests };
          const first = await createTestKey(timed.store, limit, { strictCaps });
          const second = await addTestKey(timed.store, first.organizationId, limit);
          const keys = [first, second];
          const identities: RequestIdentity[] = [];
          for (let index = 0; index < REQUESTS; index += 1) {
            identities.push({ ...(await createIdentity(timed.store, keys[index % KEYS]!)), day: DAY_BEFORE });
          }
          const run = new SpendRun(timed, identities, { strictCaps, maxConcurrentRequests });
          for (const each of steps) {
            await run.apply(each);
            expect(await run.read(keys)).toEqual(run.expected(keys));
          }
        },
      ),
      { numRuns: runs(300) },
    );
  });

  it("is the sum of the last totals, once everything has arrived, in any order and any number of times", async () => {
    const charges = fc.array(fc.bigInt({ min: 0n, max: 10n ** 14n + 1n }), { minLength: 1, maxLength: 5 });
    const orders = fc.array(fc.nat(), { minLength: 60, maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(fc.array(charges, { minLength: 1, maxLength: 4 }), orders, async (requests, order) => {
        const { store, clock } = timed;
        clock.set(START);
        const key = await createTestKey(store, {}, { strictCaps: true });
        const commands: (() => Promise<unknown>)[] = [];
        for (const totals of requests) {
          const identity = await createIdentity(store, key);
          const input = openRecordInput(identity, { worstCaseMicrocents: 10n ** 14n, floorMicrocents: 5n });
          commands.push(
            () => store.openRecord(input),
            () => store.renew(key.organizationId, [identity]),
          );
          for (const [index, each] of totals.entries()) {
            const final = index === totals.length - 1 ? FINAL : null;
            const charged = chargeInput(identity, index + 1, each, { final });
            commands.push(() => store.charge(charged));
            if (final !== null) commands.push(() => store.charge({ ...charged, isSingleCharge: true }));
          }
        }
        // Any of them any number of times, alone or two in a turn, then each at least once.
        const picked = order.map((pick) => commands[pick % commands.length]!);
        for (const [index, command] of picked.entries()) {
          await Promise.all(index % 3 === 0 ? [command(), picked.at(index - 1)!()] : [command()]);
        }
        for (const command of commands) await command();
        const expected = requests.reduce((sum, totals) => sum + totals.at(-1)!, 0n);
        const { organizationMicrocents, organizationHeldMicrocents } = await store.readSpend(
          key.organizationId,
          null,
        );
        expect([organizationMicrocents, organizationHeldMicrocents]).toEqual([expected, 0n]);
      }),
      { numRuns: runs(80) },
    );
  });
});
