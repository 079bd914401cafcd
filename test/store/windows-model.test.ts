/** Limits by window and owner beside a plain model of them. */
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Limit } from "../../src/shared/settings/limits.ts";
import { createStore } from "../../src/data-path/store/redis-store.ts";
import type { Store } from "../../src/shared/stored/store.ts";
import { runs } from "../support/extent.ts";
import { canSetClock, microseconds, openTimedStore, type TimedStore } from "./clock-fixture.ts";
import { DAY_MS, PERIODS } from "./windows-calendar.ts";
import type { Command } from "./windows-commands.ts";
import {
  type LimitsChange,
  NAMED_REQUESTS,
  type Plan,
  runPlan,
  type Step,
  type Wait,
} from "./windows-run.ts";

const KEYS = 3;
const USERS = 2;
const GROUPS = 2;
/** At the start. A key has a user of a group, another has a group of its own beside it, and one belongs to nobody. */
const MEMBERS = { "user 0": { group: 0 }, "key 0": { user: 0 }, "key 1": { user: 0, group: 1 } };
/** So few that a counter of all time begins quickly. */
const USAGE_MONTHS = 2;

/** From some of them a day, a week and a month or a year end with one another, or a week lies in two. */
const STARTS = [
  "2026-11-19T12:00:00Z",
  "2026-05-29T20:00:00Z",
  "2026-12-29T23:59:00Z",
  "2028-02-27T06:00:00Z",
].map((time) => Date.parse(time));

const key = fc.integer({ min: 0, max: KEYS - 1 });
const user = fc.integer({ min: 0, max: USERS - 1 });
const group = fc.integer({ min: 0, max: GROUPS - 1 });
const keyOrNone = fc.option(key);
/** More often a user than a group, which a key has of its own or of its user. */
const ofUser = fc.option(user, { freq: 5 });
const ofGroup = fc.option(group, { freq: 2 });
const period = fc.constantFrom(...PERIODS);
const groupOrAll = fc.oneof(
  group.map((index) => `group ${index}`),
  fc.constant("organization"),
);
const keyOrUser = fc.oneof(
  key.map((index) => `key ${index}`),
  user.map((index) => `user ${index}`),
);
const subject = fc.oneof({ weight: 2, arbitrary: keyOrUser }, { weight: 1, arbitrary: groupOrAll });
const cents = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom(2, 5, 10, 10, 20, 30, 50, 80) },
  { weight: 1, arbitrary: fc.constantFrom(0, 100_000_000, 9_000_000_000) },
);
const amount = fc.oneof(
  {
    weight: 20,
    arbitrary: fc.constantFrom(0n, 1n, 999_999n, 1_000_000n, 2_500_000n, 4_000_000n, 9_000_000n),
  },
  { weight: 10, arbitrary: fc.bigInt({ min: 0n, max: 12_000_000n }) },
  { weight: 1, arbitrary: fc.constantFrom(10n ** 14n + 1n, 9n * 10n ** 13n) },
);
const worst = fc.oneof(
  amount,
  fc.constantFrom(5_000_000n, 10_000_000n, 20_000_000n, 30_000_000n),
  fc.bigInt({ min: 0n, max: 50_000_000n }),
);
const limits: fc.Arbitrary<Limit[]> = fc.uniqueArray(
  fc.record({ period, kind: fc.constantFrom("cap" as const, "cap" as const, "budget" as const), cents }),
  { maxLength: 3, selector: (limit) => `${limit.period} ${limit.kind}` },
);

const request = fc.nat({ max: NAMED_REQUESTS - 1 });
const admission = fc.record({ kind: fc.constant("admit" as const), key });
const openingOf = (request: fc.Arbitrary<number>) =>
  fc.record({ kind: fc.constant("open" as const), request, worst, floor: amount });
const chargeOf = (request: fc.Arbitrary<number>) =>
  fc.record({
    kind: fc.constant("charge" as const),
    request,
    sequence: fc.integer({ min: 1, max: 6 }),
    total: amount,
    estimate: amount,
    isFinal: fc.boolean(),
    isSingleCharge: fc.boolean(),
  });
const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 4, arbitrary: admission },
  { weight: 3, arbitrary: openingOf(request) },
  { weight: 5, arbitrary: chargeOf(request) },
);
const change: fc.Arbitrary<LimitsChange> = fc.record({ subject, limits });

const commandsOf = (commands: fc.Arbitrary<Command[]>): fc.Arbitrary<Step> =>
  fc.record({ kind: fc.constant("commands" as const), commands });
const alone = (one: fc.Arbitrary<Command>) => commandsOf(fc.tuple(one));
const newest = fc.constant(0);
/** As most requests come and go; what another step does between them comes of the single commands. */
const usual: fc.Arbitrary<Step[]> = fc.oneof(
  fc.tuple(alone(admission), alone(openingOf(newest))),
  fc.tuple(alone(admission), alone(chargeOf(newest))),
  fc.tuple(alone(admission), alone(openingOf(newest)), alone(chargeOf(newest))),
);

/** A plan has some of them: what few others disturb goes further. */
const steps: readonly fc.WeightedArbitrary<Step>[] = [
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("renew" as const), request }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("close" as const) }) },
  { weight: 8, arbitrary: change.map((each) => ({ kind: "limits" as const, ...each })) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("begin" as const),
      changes: fc.uniqueArray(change, { minLength: 1, maxLength: 2, selector: (each) => each.subject }),
      charges: fc.array(
        fc.record({ total: amount, afterCommands: fc.oneof(fc.nat({ max: 14 }), fc.nat({ max: 60 })) }),
        { minLength: 1, maxLength: 6 },
      ),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant("members" as const), subject: groupOrAll, limits }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("raise" as const),
      subject,
      period,
      cents: cents.filter((each) => each > 0),
      forMs: fc.constantFrom(1, 30_000, DAY_MS, 3 * DAY_MS),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("takeBack" as const), subject, raise: fc.nat({ max: 1 }) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("move" as const),
      subject: keyOrUser,
      user: ofUser,
      group: ofGroup,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("correct" as const),
      key: keyOrNone,
      amount: fc.bigInt({ min: -3_000_000n, max: 3_000_000n }).filter((each) => each !== 0n),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("settings" as const),
      isStrict: fc.boolean(),
      areDayAlertsAll: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("delete" as const),
      subject: fc.oneof(
        user.map((index) => `user ${index}`),
        group.map((index) => `group ${index}`),
      ),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("look" as const) }) },
];

const wait: fc.Arbitrary<Wait> = fc.oneof(
  fc.record({ milliseconds: fc.constantFrom(1, 29_999, 30_000, 3_600_000, DAY_MS, 2 * DAY_MS) }),
  fc.record({
    until: fc.constantFrom("day" as const, "day" as const, "week" as const, "month" as const),
    offsetMs: fc.constantFrom(-1, 0),
  }),
);

const inOrganization = (steps: fc.Arbitrary<Step[]>) =>
  fc
    .record({ organization: fc.oneof(fc.constant(0), fc.nat({ max: 3 })), worker: fc.nat({ max: 1 }), steps })
    .map(({ organization, worker, steps: all }) => all.map((one) => ({ organization, worker, step: one })));

/** One whose owner is silent for a while. */
const silent = inOrganization(
  fc.tuple(
    alone(admission),
    alone(openingOf(newest)),
    fc.constant({ kind: "close" as const }),
    fc.constant({ kind: "renew" as const, request: 0 }),
  ),
).map(([admit, open, ...others]) => [admit!, open!, { milliseconds: 30_000 }, ...others]);

const plan: fc.Arbitrary<Plan> = fc.record({
  startMs: fc.constantFrom(...STARTS),
  organizations: fc.array(
    fc
      .boolean()
      .map((isStrict) => ({ keys: KEYS, users: USERS, groups: GROUPS, isStrict, members: MEMBERS })),
    { minLength: 1, maxLength: 4 },
  ),
  steps: fc.subarray([...steps], { minLength: 3 }).chain((some) => {
    const step = fc.oneof(
      { weight: 8, arbitrary: alone(command) },
      { weight: 4, arbitrary: commandsOf(fc.array(command, { minLength: 2, maxLength: 4 })) },
      { weight: 8, arbitrary: fc.oneof(...some) },
    );
    const parts = fc.oneof(
      { weight: 6, arbitrary: inOrganization(usual) },
      { weight: 14, arbitrary: inOrganization(fc.tuple(step)) },
      { weight: 1, arbitrary: silent },
      { weight: 1, arbitrary: fc.tuple(wait) },
    );
    return fc.array(parts, { minLength: 1, maxLength: 60, size: "max" }).map((several) => several.flat());
  }),
});

let timed: TimedStore;
/** Two of them on one Redis. */
let workers: readonly Store[];
beforeAll(async () => {
  if (!canSetClock) return;
  timed = await openTimedStore(microseconds("2026-11-19T12:00:00Z"));
  const { client } = timed;
  workers = [1, 2].map(() => createStore({ client, usageMonths: USAGE_MONTHS }));
});
afterAll(async () => {
  if (canSetClock) await timed.stop();
});

describe.skipIf(!canSetClock)("limits by window and owner (sets Redis's clock: takes Linux and cc)", () => {
  it("refuse, name, count and tell what a plain model says, whatever happens in whatever order", async () => {
    await fc.assert(
      fc.asyncProperty(plan, async (each) => {
        await timed.client.flushall();
        expect(await runPlan(timed, workers, each)).toEqual([]);
      }),
      { numRuns: runs(400) },
    );
  });
});
