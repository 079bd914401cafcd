/** Limits by window and owner: what refuses, and how a counter begins. */
import { describe, expect, it } from "vitest";
import { DAY_MS } from "../../src/shared/time/calendar.ts";
import type { LimitPeriod } from "../../src/shared/settings/limits.ts";
import { LIMIT_SCOPES } from "../../src/shared/stored/decision.ts";
import { formatOwnerIds } from "../../src/shared/stored/owner-ids.ts";
import { canSetClock, microseconds } from "./clock-fixture.ts";
import {
  addTestGroup,
  addTestKey,
  addTestUser,
  admitKnown,
  chargeInput,
  FINAL,
  openRecordInput,
} from "./fixture.ts";
import {
  CENT,
  THURSDAY,
  timed,
  useTimedStore,
  type Owners,
  createOwners,
  setLimits,
  cap,
  identify,
  spend,
  decide,
  spentIn,
  closeOverdue,
  PERIODS,
} from "./windows-fixture.ts";

useTimedStore();

const DAYS_UNTIL_NEXT = { day: 1, week: 4, month: 12, total: 4_000 } as const;

describe.skipIf(!canSetClock)("a cap (sets Redis's clock: takes Linux and cc)", () => {
  it.each(LIMIT_SCOPES.flatMap((scope) => PERIODS.map((period) => ({ scope, period }))))(
    "of a $scope in a $period refuses what its window has spent, and no other",
    async ({ scope, period }) => {
      const of = await createOwners();
      await setLimits(of, scope, [cap(period, 100)]);
      await spend(of, 99);
      expect(await decide(of)).toBe("admitted");
      await spend(of, 1, true);
      const refused = await admitKnown(timed().store, of.key);
      expect(refused.decision).toBe(`${scope}_cap_reached`);
      const reached = { scope, period, cents: 100, raisedCents: 0, spentMicrocents: 100n * CENT };
      expect(refused).toMatchObject({ reachedCap: reached, caps: [reached] });
      const identity = await identify(of);
      expect(await timed().store.openRecord(openRecordInput(identity))).toMatchObject({
        outcome: `${scope}_cap_reached`,
        figures: { period, capCents: 100, spentMicrocents: 100n * CENT },
      });
      timed().clock.set(microseconds(THURSDAY) + BigInt(DAYS_UNTIL_NEXT[period] * DAY_MS) * 1000n);
      expect(await decide(of)).toBe(period === "total" ? `${scope}_cap_reached total` : "admitted");
    },
  );

  it.each([
    { at: "2026-11-19T23:59:59.999Z", period: "day", next: "2026-11-20T00:00:00Z" },
    { at: "2026-11-22T23:59:59.999Z", period: "week", next: "2026-11-23T00:00:00Z" },
    // Week 53 of 2026 ends in 2027.
    { at: "2027-01-03T23:59:59.999Z", period: "week", next: "2027-01-04T00:00:00Z" },
    { at: "2026-12-31T23:59:59.999Z", period: "month", next: "2027-01-01T00:00:00Z" },
  ] as const)("counts a request to the $period of its admission at $at", async ({ at, period, next }) => {
    timed().clock.set(microseconds(at) + 999n);
    const of = await createOwners();
    await setLimits(of, "user", [cap(period, 100)]);
    const identity = await identify(of);
    await timed().store.openRecord(openRecordInput(identity));
    timed().clock.set(microseconds(next));
    await timed().store.charge(chargeInput(identity, 1, 500n * CENT, { final: FINAL }));
    expect((await spentIn(of, period))[1]).toBe(0n);
    expect((await spentIn(of, period, Date.parse(at)))[1]).toBe(500n * CENT);
    expect(await decide(of)).toBe("admitted");
  });

  it("is not lifted by a window that began before, where a week goes over two months", async () => {
    timed().clock.set(microseconds("2026-11-30T12:00:00Z"));
    const of = await createOwners();
    await setLimits(of, "key", [cap("week", 100), cap("month", 100)]);
    await spend(of, 100);
    // The week ends behind the month, so that it is named.
    expect(await decide(of)).toBe("key_cap_reached week");
    timed().clock.set(microseconds("2026-12-01T12:00:00Z"));
    expect(await decide(of)).toBe("key_cap_reached week");
    timed().clock.set(microseconds("2026-12-07T00:00:00Z"));
    expect(await decide(of)).toBe("admitted");
  });

  it("is named of several that are reached when it resets last, and then of the narrowest owner", async () => {
    const of = await createOwners();
    const all = (period: LimitPeriod) =>
      Promise.all(LIMIT_SCOPES.map((scope) => setLimits(of, scope, [cap(period, 1)])));
    await spend(of, 5);
    await all("day");
    expect(await decide(of)).toBe("key_cap_reached day");
    await setLimits(of, "organization", [cap("day", 1), cap("month", 1)]);
    expect(await decide(of)).toBe("organization_cap_reached month");
    await setLimits(of, "group", [cap("week", 1), cap("month", 1)]);
    expect(await decide(of)).toBe("group_cap_reached month");
    await setLimits(of, "user", [cap("total", 1), cap("day", 1)]);
    expect(await decide(of)).toBe("user_cap_reached total");
  });
});

describe.skipIf(!canSetClock)("a limit that is set now (sets Redis's clock)", () => {
  it.each(LIMIT_SCOPES)("of a %s knows what was spent before in its window", async (scope) => {
    const of = await createOwners();
    timed().clock.set(microseconds("2026-10-20T12:00:00Z"));
    await spend(of, 1000);
    timed().clock.set(microseconds("2026-11-16T00:00:00Z"));
    await spend(of, 100);
    timed().clock.set(microseconds(THURSDAY));
    await spend(of, 10);
    await setLimits(
      of,
      scope,
      PERIODS.map((period) => cap(period, 5_000)),
    );
    await spend(of, 1);
    const spent = await Promise.all(
      PERIODS.map(async (period) => (await spentIn(of, period))[LIMIT_SCOPES.indexOf(scope)]),
    );
    expect(spent).toEqual([11n, 111n, 111n, 1111n].map((cents) => cents * CENT));
    await setLimits(of, scope, [cap("week", 111)]);
    expect(await decide(of)).toBe(`${scope}_cap_reached week`);
  });

  it("counts each request once that is charged while its counter begins", async () => {
    const of = await createOwners();
    const models = Array.from({ length: 450 }, (_, index) => `acme/model-${index}`);
    const charge = async (model: string, cents: bigint) => {
      const identity = await identify(of, model);
      await timed().store.charge(chargeInput(identity, 1, cents * CENT, { final: FINAL }));
    };
    await Promise.all(models.map((model) => charge(model, 1n)));
    const open = await identify(of);
    await timed().store.openRecord(openRecordInput(open));
    await timed().store.charge(chargeInput(open, 1, 7n * CENT));
    const meanwhile = { charges: 0, isOver: false };
    const chargeOn = async () => {
      while (!meanwhile.isOver) await charge(models[meanwhile.charges++ % models.length] ?? "", 10n);
    };
    const set = Promise.all([
      setLimits(of, "key", [cap("day", 100_000)]),
      setLimits(of, "user", [cap("week", 100_000), cap("total", 100_000)]),
      setLimits(of, "group", [cap("month", 100_000)]),
    ]).finally(() => (meanwhile.isOver = true));
    await Promise.all([set, ...Array.from({ length: 8 }, chargeOn)]);
    await timed().store.charge(chargeInput(open, 2, 9n * CENT, { final: FINAL }));
    const total = (450n + BigInt(meanwhile.charges) * 10n + 9n) * CENT;
    expect(await spentIn(of, "day")).toEqual([total, total, total, total]);
    expect(await spentIn(of, "week")).toEqual([total, total, total, total]);
    expect(await spentIn(of, "total")).toEqual([total, total, total, total]);
    expect((await spentIn(of, "month")).slice(1, 3)).toEqual([total, total]);
    expect(await timed().client.keys("igw:*window-seed*")).toEqual([]);
  });

  it("forgets nothing when it is taken away and set again", async () => {
    const of = await createOwners();
    await setLimits(of, "user", [cap("week", 100)]);
    await spend(of, 60);
    await setLimits(of, "user", []);
    await spend(of, 60);
    await setLimits(of, "user", [cap("week", 100)]);
    expect(await decide(of)).toBe("user_cap_reached week");
  });
});

describe.skipIf(!canSetClock)("limits of each member (sets Redis's clock)", () => {
  it("are what a user has whose own limits say nothing: its own group's, whatever group the key names", async () => {
    const of = await createOwners();
    const { organizationId, groupId, userId, key } = of;
    const otherGroup = await addTestGroup(timed().store, organizationId);
    await timed().store.changeGroup(organizationId, groupId, { memberLimits: [cap("week", 100)] }, null);
    await timed().store.changeKey(key, { groupId: otherGroup }, null);
    const ofOther = { ...of, owners: formatOwnerIds({ userId, groupId: otherGroup }) };
    await spend(ofOther, 100);
    expect(await decide(of)).toBe("user_cap_reached week");
    await setLimits(of, "user", [cap("week", 200)]);
    expect(await decide(of)).toBe("admitted");
    await setLimits(of, "user", [cap("day", 200)]);
    expect(await decide(of)).toBe("user_cap_reached week");
  });

  it("are the organization's where a user has no group", async () => {
    const of = await createOwners({ memberLimits: [cap("total", 100)] });
    await spend(of, 100);
    expect(await decide(of)).toBe("admitted");
    await timed().store.changeUser(of.organizationId, of.userId, { groupId: null }, null);
    expect(await decide(of)).toBe("user_cap_reached total");
  });

  it("are of each user alone, and the pool is of all", async () => {
    const of = await createOwners();
    const { organizationId, groupId } = of;
    const limits = { limits: [cap("month", 150)], memberLimits: [cap("month", 100)] };
    await timed().store.changeGroup(organizationId, groupId, limits, null);
    const userId = await addTestUser(timed().store, organizationId, { groupId });
    const key = await addTestKey(timed().store, organizationId, { userId });
    const other = { ...of, userId, key, owners: formatOwnerIds({ userId, groupId }) };
    await spend(of, 100);
    expect([await decide(of), await decide(other)]).toEqual(["user_cap_reached month", "admitted"]);
    await spend(other, 50);
    expect([await decide(of), await decide(other)]).toEqual([
      "user_cap_reached month",
      "group_cap_reached month",
    ]);
  });
});

describe.skipIf(!canSetClock)("strict caps (sets Redis's clock)", () => {
  const hold = async (of: Owners, worst: number) => {
    const identity = await identify(of);
    const result = await timed().store.openRecord(
      openRecordInput(identity, { worstCaseMicrocents: BigInt(worst) * CENT }),
    );
    return { identity, result };
  };

  it.each(LIMIT_SCOPES.flatMap((scope) => PERIODS.map((period) => ({ scope, period }))))(
    "hold in the $period of a $scope, and let go with the final charge",
    async ({ scope, period }) => {
      const of = await createOwners({ strictCaps: true });
      await setLimits(of, scope, [cap(period, 100)]);
      const first = await hold(of, 60);
      expect(first.result.outcome).toBe("opened");
      expect((await hold(of, 41)).result).toMatchObject({
        outcome: `${scope}_cap_reached`,
        figures: { period, heldMicrocents: 60n * CENT, capCents: 100 },
      });
      await timed().store.charge(chargeInput(first.identity, 1, 30n * CENT));
      expect((await hold(of, 41)).result.outcome).toBe(`${scope}_cap_reached`);
      await timed().store.charge(chargeInput(first.identity, 2, 30n * CENT, { final: FINAL }));
      expect((await hold(of, 70)).result.outcome).toBe("opened");
    },
  );

  it("name the cap that leaves least room", async () => {
    const of = await createOwners({ strictCaps: true });
    await setLimits(of, "organization", [cap("total", 90)]);
    await setLimits(of, "key", [cap("day", 100)]);
    await setLimits(of, "group", [cap("week", 80)]);
    expect((await hold(of, 95)).result).toMatchObject({
      outcome: "group_cap_reached",
      figures: { period: "week", ownerName: "Team" },
    });
  });

  it("hold again what another had closed when its owner comes back, and let go when nobody does", async () => {
    const of = await createOwners({ strictCaps: true });
    await setLimits(of, "user", [cap("week", 100)]);
    const { identity } = await hold(of, 60);
    const { organizationId, requestId, keyId, month } = identity;
    timed().clock.set(microseconds(THURSDAY) + 31_000_000n);
    await closeOverdue(of);
    const second = await hold(of, 100);
    expect(second.result.outcome).toBe("opened");
    await timed().store.charge(chargeInput(second.identity, 1, 0n, { final: FINAL }));
    expect(await timed().store.renew(organizationId, [{ requestId, keyId, month }])).toEqual(["reopened"]);
    expect((await hold(of, 41)).result.outcome).toBe("user_cap_reached");
    timed().clock.set(microseconds(THURSDAY) + 120_000_000n);
    await closeOverdue(of);
    expect((await hold(of, 100)).result.outcome).toBe("opened");
  });
});
