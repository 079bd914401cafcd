/** Percentages of a limit's own at which it alerts. */
import { describe, expect, it } from "vitest";
import type { KeySettings } from "../../src/shared/settings/key.ts";
import type { OrganizationSettings } from "../../src/shared/settings/organization.ts";
import { monthLimits } from "../support/month-limits.ts";
import {
  addTestUser,
  chargeInput,
  createIdentity,
  createTestKey,
  FINAL,
  type TestKey,
  withTestStore,
} from "./fixture.ts";

const CENT = 1_000_000n;
const test = withTestStore();

const createKey = (key: Partial<KeySettings>, organization: Partial<OrganizationSettings> = {}) =>
  createTestKey(test.store, key, organization);

/** One request that costs this much, from start to end. */
async function spend(key: TestKey, microcents: bigint): Promise<void> {
  const identity = await createIdentity(test.store, key);
  await test.store.charge(chargeInput(identity, 1, microcents, { final: FINAL }));
}

/** In the order in which they fired. */
async function listAlerts({ organizationId }: TestKey) {
  const { items } = await test.store.listAlerts(organizationId, { limit: 100, after: null });
  return items.toReversed();
}

/** "key budget 80% of 100" */
async function summarize(key: TestKey): Promise<string[]> {
  return (await listAlerts(key)).map(
    (alert) => `${alert.scope} ${alert.kind} ${alert.thresholdPercent}% of ${alert.amountCents}`,
  );
}

describe("percentages of a limit", () => {
  it("can be a limit's own, before 100 %, also of a day", async () => {
    const limits = [
      { period: "day", kind: "cap", cents: 100, alerts: [25, 60] },
      { period: "month", kind: "cap", cents: 200, alerts: [] },
      { period: "month", kind: "budget", cents: 100, alerts: [5] },
    ] as const;
    const key = await createKey({ limits });
    for (let cents = 0; cents < 200; cents += 1) await spend(key, CENT);
    const fired = await listAlerts(key);
    expect(
      fired.map(({ period, kind, thresholdPercent, spentMicrocents }) =>
        [period, kind, thresholdPercent, spentMicrocents / CENT].join(" "),
      ),
    ).toEqual([
      "month budget 5 5",
      "day hard_cap 25 25",
      "day hard_cap 60 60",
      "month budget 100 100",
      "day hard_cap 100 100",
      "month hard_cap 100 200",
    ]);
  });

  it("of members' limits go with them to each user", async () => {
    const memberLimits = [{ period: "week", kind: "cap", cents: 100, alerts: [10] }] as const;
    const key = await createKey({}, { memberLimits });
    const userId = await addTestUser(test.store, key.organizationId);
    const identity = { ...(await createIdentity(test.store, key)), owners: userId };
    await test.store.charge(chargeInput(identity, 1, 10n * CENT, { final: FINAL }));
    expect(await summarize(key)).toEqual(["user hard_cap 10% of 100"]);
  });

  it("that are set below what is spent fire with the change", async () => {
    const key = await createKey({ limits: monthLimits({ cap: 100 }) });
    await spend(key, 60n * CENT);
    expect(await summarize(key)).toEqual([]);
    const limits = [{ period: "month", kind: "cap", cents: 100, alerts: [50, 75] }] as const;
    await test.store.changeKey(key, { limits }, null);
    expect(await summarize(key)).toEqual(["key hard_cap 50% of 100"]);
  });
});
