/** Temporary raises where they count: in the scripts that decide. */
import { describe, expect, it } from "vitest";
import type { LimitPeriod } from "../../src/shared/settings/limits.ts";
import type { Raise } from "../../src/shared/settings/raises.ts";
import { createId } from "../../src/data-path/store/ids.ts";
import { LIMIT_SCOPES, type LimitScope } from "../../src/shared/stored/decision.ts";
import { canSetClock } from "./clock-fixture.ts";
import { admitKnown, openRecordInput } from "./fixture.ts";
import {
  cap,
  CENT,
  createOwners,
  decide,
  identify,
  type Owners,
  PERIODS,
  setLimits,
  spend,
  THURSDAY,
  timed,
  useTimedStore,
} from "./windows-fixture.ts";

useTimedStore();

const BY = { type: "token", id: "token_1", name: "ops, team 7" } as const;
/** An hour and a millisecond after the time that the store has. */
const UNTIL_MS = Date.parse(THURSDAY) + 3_600_001;

const raise = (period: LimitPeriod, cents: number, expiresAtMs = UNTIL_MS): Raise => ({
  id: createId("raise", Date.parse(THURSDAY)),
  period,
  cents,
  expiresAtMs,
  reason: "week 5 9999999999999: launch, 100 % Ω",
  createdBy: BY,
});

async function setRaises(of: Owners, scope: LimitScope, raises: readonly Raise[]): Promise<void> {
  const { store } = timed();
  const { organizationId, key, userId, groupId } = of;
  if (scope === "key") await store.changeKey(key, { raises }, null);
  else if (scope === "user") await store.changeUser(organizationId, userId, { raises }, null);
  else if (scope === "group") await store.changeGroup(organizationId, groupId, { raises }, null);
  else await store.changeOrganization(organizationId, { raises }, null);
}

const setClock = (ms: number) => timed().clock.set(BigInt(ms) * 1000n);
const raisesOfAlerts = async (of: Owners) => {
  const { items } = await timed().store.listAlerts(of.organizationId, { limit: 20, after: null });
  return items.map(({ thresholdPercent, amountCents }) => `${thresholdPercent} of ${amountCents}`);
};

describe.skipIf(!canSetClock)("a raise (sets Redis's clock: takes Linux and cc)", () => {
  it.each(LIMIT_SCOPES.flatMap((scope) => PERIODS.map((period) => ({ scope, period }))))(
    "of a $scope lifts its cap of a $period until the moment that it ends",
    async ({ scope, period }) => {
      const of = await createOwners();
      await setLimits(of, scope, [cap(period, 100)]);
      const others = PERIODS.filter((other) => other !== period).map((other) => raise(other, 900));
      await setRaises(of, scope, [...others, raise(period, 30), raise(period, 20)]);
      await spend(of, 149);
      expect(await decide(of)).toBe("admitted");
      expect((await timed().store.openRecord(openRecordInput(await identify(of)))).outcome).toBe("opened");
      await spend(of, 1);
      const reached = { scope, period, cents: 150, raisedCents: 50, spentMicrocents: 150n * CENT };
      expect(await admitKnown(timed().store, of.key)).toMatchObject({
        decision: `${scope}_cap_reached`,
        reachedCap: reached,
      });
      expect(await timed().store.openRecord(openRecordInput(await identify(of)))).toMatchObject({
        outcome: `${scope}_cap_reached`,
        figures: { period, capCents: 150, raisedCents: 50 },
      });
    },
  );

  it("counts to its last millisecond, in the middle of a window, and no longer", async () => {
    const of = await createOwners();
    await setLimits(of, "user", [cap("week", 100)]);
    await setRaises(of, "user", [raise("week", 100)]);
    await spend(of, 150);
    setClock(UNTIL_MS - 1);
    expect(await decide(of)).toBe("admitted");
    setClock(UNTIL_MS);
    expect(await decide(of)).toBe("user_cap_reached week");
    expect(await timed().store.openRecord(openRecordInput(await identify(of)))).toMatchObject({
      figures: { capCents: 100, raisedCents: 0 },
    });
  });

  it("of a user lifts what its group gives each member, and of a group the pool alone", async () => {
    const of = await createOwners();
    const { store } = timed();
    await store.changeGroup(of.organizationId, of.groupId, { memberLimits: [cap("week", 100)] }, null);
    await spend(of, 120);
    await setRaises(of, "group", [raise("week", 50)]);
    expect(await decide(of)).toBe("user_cap_reached week");
    await setRaises(of, "user", [raise("week", 50)]);
    expect(await decide(of)).toBe("admitted");
  });

  it("is no budget's, and no more than amounts can be", async () => {
    const of = await createOwners();
    const MOST = 9_000_000_000;
    await setLimits(of, "key", [{ period: "day", kind: "budget", cents: 100 }, cap("day", 200)]);
    await setRaises(of, "key", [raise("day", MOST), raise("day", MOST)]);
    await spend(of, 1);
    const { limits } = await timed().store.readLimits(of.organizationId, {
      keyId: of.key.keyId,
      owners: of.owners,
    });
    expect(limits).toMatchObject([
      { kind: "cap", cents: MOST, raisedCents: MOST - 200 },
      { kind: "budget", cents: 100, raisedCents: 0 },
    ]);
  });

  it("is stored with who made it and why, whatever that says", async () => {
    const of = await createOwners();
    const made = raise("day", 5);
    await setRaises(of, "organization", [made]);
    expect((await timed().store.getOrganization(of.organizationId))?.raises).toEqual([made]);
  });

  it("is what alerts go by, and what falls with it tells at once", async () => {
    const of = await createOwners();
    await setLimits(of, "group", [cap("week", 100)]);
    await setRaises(of, "group", [raise("week", 100)]);
    await spend(of, 110);
    expect(await raisesOfAlerts(of)).toEqual([]);
    await spend(of, 70);
    expect(await raisesOfAlerts(of)).toEqual(["90 of 200"]);
    await setRaises(of, "group", []);
    expect((await raisesOfAlerts(of)).toSorted()).toEqual(["100 of 100", "90 of 100", "90 of 200"]);
  });

  it("lets strict caps hold as much more", async () => {
    const of = await createOwners({ strictCaps: true });
    await setLimits(of, "organization", [cap("day", 100)]);
    await setRaises(of, "organization", [raise("day", 100)]);
    const open = async (cents: number) =>
      (
        await timed().store.openRecord(
          openRecordInput(await identify(of), { worstCaseMicrocents: BigInt(cents) * CENT }),
        )
      ).outcome;
    expect(await open(150)).toBe("opened");
    expect(await open(51)).toBe("organization_cap_reached");
    expect(await open(50)).toBe("opened");
  });
});
