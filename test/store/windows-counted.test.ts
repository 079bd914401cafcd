/** Windows of each owner: what moves their counters, and what alerts fire. */
import { describe, expect, it } from "vitest";
import { DAY_MS } from "../../src/shared/time/calendar.ts";
import { LIMIT_SCOPES } from "../../src/shared/stored/decision.ts";
import { canSetClock, microseconds } from "./clock-fixture.ts";
import { chargeInput, FINAL, openRecordInput } from "./fixture.ts";
import {
  CENT,
  THURSDAY,
  timed,
  useTimedStore,
  type Owners,
  createOwners,
  setLimits,
  cap,
  budget,
  identify,
  spend,
  spentIn,
  closeOverdue,
  PERIODS,
} from "./windows-fixture.ts";

useTimedStore();

describe.skipIf(!canSetClock)("what moves spend (sets Redis's clock)", () => {
  it("moves every window of every owner by as much", async () => {
    const of = await createOwners();
    await Promise.all(
      LIMIT_SCOPES.map((scope) =>
        setLimits(
          of,
          scope,
          PERIODS.map((period) => cap(period, 100_000)),
        ),
      ),
    );
    const expectSpent = async (cents: bigint) => {
      const spent = await Promise.all(PERIODS.map((period) => spentIn(of, period)));
      expect(spent.flat()).toEqual(Array.from({ length: 16 }, () => cents * CENT));
    };
    const first = await spend(of, 100);
    await expectSpent(100n);
    // A late charge that corrects a final one.
    await timed().store.charge(chargeInput(first, 2, 50n * CENT, { final: FINAL }));
    await expectSpent(50n);
    // Left by its owner, and closed at its floor.
    const left = await identify(of);
    await timed().store.openRecord(openRecordInput(left, { floorMicrocents: 5n * CENT }));
    timed().clock.set(microseconds(THURSDAY) + 31_000_000n);
    await closeOverdue(of);
    await expectSpent(55n);
    // Brought back from the log.
    const { day, model } = first;
    const { rows } = await timed().store.readUsage(of.organizationId, first.month);
    const logged = rows.map((row) => ({ ...row, costMicrocents: row.costMicrocents + 20n * CENT }));
    const raise = { day, keyId: of.key.keyId, owners: of.owners, model, rows: logged };
    await timed().store.raiseUsage(of.organizationId, raise, [""]);
    await expectSpent(75n);
  });

  it("moves the windows of whoever it names, and the organization's, by a correction", async () => {
    const of = await createOwners();
    await setLimits(of, "organization", [cap("day", 1000)]);
    await setLimits(of, "key", [cap("week", 1000)]);
    const correct = (keyId: string | null, cents: bigint, owners?: string) =>
      timed().store.correct({
        organizationId: of.organizationId,
        keyId,
        ...(owners === undefined ? {} : { owners }),
        correctionId: `correction_${cents}`,
        amountMicrocents: cents * CENT,
      });
    await correct(of.key.keyId, 30n);
    await correct(null, -10n);
    expect(await spentIn(of, "day")).toEqual([30n * CENT, 0n, 0n, 20n * CENT]);
    expect(await spentIn(of, "week")).toEqual([30n * CENT, 0n, 0n, 20n * CENT]);
    await correct(null, 5n, of.owners);
    await correct(of.key.keyId, 2n, of.groupId);
    expect(await spentIn(of, "day")).toEqual([32n * CENT, 5n * CENT, 7n * CENT, 27n * CENT]);
    const { rows } = await timed().store.readUsage(of.organizationId, "2026-11");
    expect(rows).toMatchObject([
      { keyId: null, owners: of.owners, costMicrocents: 5n * CENT },
      { keyId: null, owners: "", costMicrocents: -10n * CENT },
      { keyId: of.key.keyId, owners: of.groupId, costMicrocents: 2n * CENT },
      { keyId: of.key.keyId, owners: "", costMicrocents: 30n * CENT },
    ]);
  });

  it("knows a correction of before the first limit asked for its period", async () => {
    const of = await createOwners();
    const { organizationId, owners } = of;
    const amountMicrocents = 7n * CENT;
    await timed().store.correct({
      organizationId,
      keyId: null,
      owners,
      correctionId: "early",
      amountMicrocents,
    });
    await setLimits(of, "user", [cap("week", 1000), cap("month", 1000)]);
    expect(await spentIn(of, "week")).toEqual([0n, 7n * CENT, 7n * CENT, 7n * CENT]);
    expect((await spentIn(of, "month")).slice(1, 3)).toEqual([7n * CENT, 7n * CENT]);
  });
});

describe.skipIf(!canSetClock)("alerts of windows (sets Redis's clock)", () => {
  const listed = async (of: Owners) => {
    const { items } = await timed().store.listAlerts(of.organizationId, { limit: 100, after: null });
    return items
      .map(({ scope, period, kind, thresholdPercent, ownerName }) =>
        [scope, ownerName ?? "-", period, kind, thresholdPercent].join(" "),
      )
      .toReversed();
  };

  it("fire once for each owner and window, of a day at 100 % alone", async () => {
    const of = await createOwners();
    await setLimits(of, "user", [cap("day", 100), budget("week", 100)]);
    await setLimits(of, "group", [cap("total", 1000)]);
    await spend(of, 95);
    expect(await listed(of)).toEqual(["user Zoë week budget 80"]);
    await spend(of, 5, true);
    await spend(of, 5);
    expect(await listed(of)).toEqual([
      "user Zoë week budget 80",
      "user Zoë week budget 100",
      "user Zoë day hard_cap 100",
    ]);
    timed().clock.set(microseconds(THURSDAY) + BigInt(DAY_MS) * 1000n);
    await spend(of, 100);
    await spend(of, 800);
    expect((await listed(of)).slice(3)).toEqual([
      "user Zoë day hard_cap 100",
      "group Team total hard_cap 90",
      "group Team total hard_cap 100",
    ]);
  });

  it("fire of a day at 80 % and 90 %, too, where the organization wants all", async () => {
    const of = await createOwners({ dayAlerts: "all" });
    await setLimits(of, "user", [cap("day", 100), budget("day", 100)]);
    await spend(of, 95);
    expect(await listed(of)).toEqual(["user Zoë day budget 80", "user Zoë day hard_cap 90"]);
    await timed().store.changeOrganization(of.organizationId, { dayAlerts: "last" }, null);
    const other = await timed().store.changeUser(
      of.organizationId,
      of.userId,
      { limits: [cap("day", 101)] },
      null,
    );
    expect(other.outcome).toBe("changed");
    expect(await listed(of)).toHaveLength(2);
  });

  it("fire of what the organization gives each member, of a user whose group was deleted", async () => {
    const of = await createOwners({ memberLimits: [budget("week", 100)] });
    await timed().store.deleteGroup(of.organizationId, of.groupId, "keep", null);
    await spend(of, 90);
    expect(await listed(of)).toEqual(["user Zoë week budget 80"]);
    await spend(of, 10, true);
    expect(await listed(of)).toHaveLength(2);
  });

  it("say the window that they are of", async () => {
    const of = await createOwners();
    await setLimits(of, "key", [budget("week", 10), budget("total", 10)]);
    await spend(of, 9);
    const { items } = await timed().store.listAlerts(of.organizationId, { limit: 10, after: null });
    expect(items).toMatchObject([
      { period: "total", windowStart: null, month: "2026-11", keyId: of.key.keyId },
      { period: "week", windowStart: "2026-11-16", month: "2026-11", spentMicrocents: 9n * CENT },
    ]);
  });

  it.each(LIMIT_SCOPES)("fire when a %s gets a limit under what is spent", async (scope) => {
    const of = await createOwners();
    await spend(of, 90);
    await setLimits(of, scope, [budget("week", 100)]);
    expect(await listed(of)).toEqual([expect.stringMatching(new RegExp(`^${scope} .* week budget 80$`))]);
  });
});

describe.skipIf(!canSetClock)("the limits that a request meets (sets Redis's clock)", () => {
  it("are read with what their windows have spent, the narrowest owner's first", async () => {
    const of = await createOwners();
    await setLimits(of, "organization", [budget("month", 500), cap("month", 1000)]);
    await setLimits(of, "group", [cap("total", 900)]);
    await setLimits(of, "user", [cap("week", 40)]);
    await setLimits(of, "key", [budget("day", 20), cap("day", 30)]);
    await spend(of, 7);
    const { keyId } = of.key;
    const read = await timed().store.readLimits(of.organizationId, { keyId, owners: of.owners });
    expect(read.timeMs).toBe(Date.parse("2026-11-19T12:00:00Z"));
    const status = { raisedCents: 0, spentMicrocents: 7n * CENT };
    expect(read.limits).toEqual([
      { scope: "key", ...cap("day", 30), ...status },
      { scope: "key", ...budget("day", 20), ...status },
      { scope: "user", ...cap("week", 40), ...status },
      { scope: "group", ...cap("total", 900), ...status },
      { scope: "organization", ...cap("month", 1000), ...status },
      { scope: "organization", ...budget("month", 500), ...status },
    ]);
  });

  it("are the organization's alone where nobody else is named, and none where there are none", async () => {
    const of = await createOwners();
    const read = () => timed().store.readLimits(of.organizationId, { keyId: null, owners: "" });
    expect((await read()).limits).toEqual([]);
    await setLimits(of, "key", [cap("day", 30)]);
    await setLimits(of, "organization", [cap("week", 30)]);
    expect((await read()).limits).toMatchObject([{ scope: "organization", period: "week", cents: 30 }]);
  });
});
