/** Caps that are reached without a charge or a change of their own: whoever is refused by one has been told of it by then. */
import { describe, expect, it } from "vitest";
import { createId } from "../../src/data-path/store/ids.ts";
import type { LimitPeriod } from "../../src/shared/settings/limits.ts";
import { spendKey } from "../../src/data-path/store/redis/keys.ts";
import { canSetClock } from "./clock-fixture.ts";
import { admitKnown, openRecordInput, readExpiry } from "./fixture.ts";
import {
  cap,
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

async function listAlerts({ organizationId }: Owners): Promise<string[]> {
  const { items } = await timed().store.listAlerts(organizationId, { limit: 100, after: null });
  return items.map(
    ({ scope, period, thresholdPercent, amountCents }) =>
      `${scope} ${period} ${thresholdPercent}% of ${amountCents}`,
  );
}

const setMembers = (of: Owners, limits: Parameters<typeof setLimits>[2]) =>
  timed().store.changeGroup(of.organizationId, of.groupId, { memberLimits: limits }, null);

type Way = (of: Owners, period: LimitPeriod) => Promise<unknown>;

/** Each leaves 100 cents spent of a cap of 80, of which nothing was told. */
const WAYS: Readonly<Record<string, { scope: "user" | "key"; bring: Way }>> = {
  "a raise that has ended": {
    scope: "key",
    bring: async (of, period) => {
      await setLimits(of, "key", [cap(period, 80)]);
      const expiresAtMs = Date.parse(THURSDAY) + 1_000;
      const createdBy = { type: "token", id: "token_1", name: "ops" } as const;
      const raise = { id: createId("raise", 0), period, cents: 1_000, expiresAtMs, reason: "", createdBy };
      await timed().store.changeKey(of.key, { raises: [raise] }, null);
      await spend(of, 100);
      timed().clock.set(BigInt(expiresAtMs) * 1000n);
    },
  },
  "members' limits that were lowered": {
    scope: "user",
    bring: async (of, period) => {
      await setMembers(of, [cap(period, 1_000)]);
      await spend(of, 100);
      await setMembers(of, [cap(period, 80)]);
    },
  },
  "a deleted group, without which its members have the organization's limits": {
    scope: "user",
    bring: async (of, period) => {
      const { store } = timed();
      await store.changeOrganization(of.organizationId, { memberLimits: [cap(period, 80)] }, null);
      await setMembers(of, [cap(period, 1_000)]);
      await spend(of, 100);
      await store.deleteGroup(of.organizationId, of.groupId, "keep", null);
    },
  },
};
const cases = Object.entries(WAYS).flatMap(([way, each]) =>
  PERIODS.map((period) => ({ way, period, ...each })),
);

describe.skipIf(!canSetClock)("a refusal by a cap (sets Redis's clock: takes Linux and cc)", () => {
  it.each(cases)("comes with its alert after $way, of a $period", async ({ scope, period, bring }) => {
    const of = await createOwners();
    await bring(of, period);
    expect(await listAlerts(of)).toEqual([]);
    const before = timed().store.firedAlerts();
    for (const _ of [1, 2]) {
      expect((await admitKnown(timed().store, of.key)).decision).toBe(`${scope}_cap_reached`);
      const told = [`${scope} ${period} 100% of 80`, `${scope} ${period} 90% of 80`];
      expect(await listAlerts(of)).toEqual(period === "day" ? told.slice(0, 1) : told);
      expect(timed().store.firedAlerts() - before).toBe(period === "day" ? 1 : 2);
    }
  });

  it.each(cases)("by a record does, too, after $way, of a $period", async ({ scope, period, bring }) => {
    const of = await createOwners();
    const identity = await identify(of);
    await bring(of, period);
    const before = timed().store.firedAlerts();
    expect((await timed().store.openRecord(openRecordInput(identity))).outcome).toBe(`${scope}_cap_reached`);
    expect(await listAlerts(of)).toContain(`${scope} ${period} 100% of 80`);
    expect(timed().store.firedAlerts() - before).toBe(period === "day" ? 1 : 2);
  });

  it("remembers its alert for as long as the month's spend is kept", async () => {
    const of = await createOwners();
    await WAYS["members' limits that were lowered"]!.bring(of, "month");
    await decide(of);
    const spend = spendKey(of.organizationId, "2026-11");
    expect(await timed().client.hkeys(spend)).toContainEqual(expect.stringMatching(/^fired:/));
    expect(await readExpiry(timed().client, spend)).toBeGreaterThan(Date.parse(THURSDAY));
  });

  it("by a strict cap that is not reached tells nothing: only this request does not fit", async () => {
    const of = await createOwners({ strictCaps: true });
    await setLimits(of, "key", [cap("week", 80)]);
    const tooMuch = openRecordInput(await identify(of), { worstCaseMicrocents: 81_000_000n });
    expect((await timed().store.openRecord(tooMuch)).outcome).toBe("key_cap_reached");
    expect(await listAlerts(of)).toEqual([]);
  });
});
