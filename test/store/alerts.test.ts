import { describe, expect, it } from "vitest";
import { createId, isId } from "../../src/data-path/store/ids.ts";
import type { AlertRecord } from "../../src/shared/stored/alerts.ts";
import type { KeySettings } from "../../src/shared/settings/key.ts";
import type { OrganizationSettings } from "../../src/shared/settings/organization.ts";
import {
  addTestKey,
  chargeInput,
  connectStore,
  createIdentity,
  createTestKey,
  FINAL,
  type TestKey,
  withTestStore,
  readExpiry,
} from "./fixture.ts";
import { monthLimits } from "../support/month-limits.ts";

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
async function listAlerts({ organizationId }: { organizationId: string }): Promise<AlertRecord[]> {
  const { items } = await test.store.listAlerts(organizationId, { limit: 100, after: null });
  const alerts = items.map(({ deliveries, ...alert }) => {
    expect(deliveries.webhook.state).toBe("pending");
    return alert;
  });
  return alerts.toReversed();
}

/** "key budget 80% of 100" */
async function summarize(key: { organizationId: string }): Promise<string[]> {
  const alerts = await listAlerts(key);
  return alerts.map(
    (alert) => `${alert.scope} ${alert.kind} ${alert.thresholdPercent}% of ${alert.amountCents}`,
  );
}

describe("thresholds", () => {
  it("fire at 80 % and 100 % of a budget and at 90 % and 100 % of a hard cap, of a key and of its organization", async () => {
    const key = await createKey(
      { limits: monthLimits({ cap: 200, budget: 100 }) },
      { limits: monthLimits({ cap: 400, budget: 300 }) },
    );
    for (let cents = 0; cents < 400; cents += 1) await spend(key, CENT);
    expect((await listAlerts(key)).map((alert) => [alert.scope, alert.kind, alert.spentMicrocents])).toEqual([
      ["key", "budget", 80n * CENT],
      ["key", "budget", 100n * CENT],
      ["key", "hard_cap", 180n * CENT],
      ["key", "hard_cap", 200n * CENT],
      ["organization", "budget", 240n * CENT],
      ["organization", "budget", 300n * CENT],
      ["organization", "hard_cap", 360n * CENT],
      ["organization", "hard_cap", 400n * CENT],
    ]);
  });

  it("that one charge crosses all fire, in order, with an id each", async () => {
    const key = await createKey(
      { name: "ci", limits: monthLimits({ cap: 100, budget: 100 }) },
      { limits: monthLimits({ budget: 100 }) },
    );
    await spend(key, 100n * CENT);
    expect(await summarize(key)).toEqual([
      "key budget 80% of 100",
      "key budget 100% of 100",
      "key hard_cap 90% of 100",
      "key hard_cap 100% of 100",
      "organization budget 80% of 100",
      "organization budget 100% of 100",
    ]);
    const ids = (await listAlerts(key)).map(({ id }) => id);
    expect(new Set(ids).size).toBe(6);
    expect(ids.every((id) => isId("alert", id))).toBe(true);
  });

  it("that one step reaches are one message under the first one's id: one entry of the outbox that has them all", async () => {
    const key = await createKey({ name: 'c"i ✓', limits: monthLimits({ cap: 200, budget: 100 }) });
    const { organizationId } = key;
    await spend(key, 185n * CENT);
    await spend(key, 15n * CENT);
    const [first, second, third, last] = await listAlerts(key);
    expect([first, second, third].map((alert) => alert!.messageId)).toEqual(Array(3).fill(first!.id));
    expect(last!.messageId).toBe(last!.id);
    expect(await test.client.xlen(`igw:{${organizationId}}:outbox`)).toBe(2);
    const claim = await test.store.claimDelivery(organizationId, "webhook", "test", 1_000);
    if (claim.outcome !== "claimed") throw new Error(claim.outcome);
    expect(claim.message).toEqual({ id: first!.id, organizationId, alerts: [first, second, third] });
    const shown = {
      state: "failed",
      attempts: 1,
      lastError: "x",
      lastAttemptAtMs: 1,
      nextAttemptAtMs: null,
    } as const;
    const finish = {
      organizationId,
      channel: "webhook",
      owner: "test",
      claim,
      outcome: "done",
      shown,
    } as const;
    expect(await test.store.finishDelivery(finish)).toBe(true);
    const { items } = await test.store.listAlerts(organizationId, { limit: 4, after: null });
    expect(items.map(({ deliveries }) => deliveries.webhook.state)).toEqual([
      "pending",
      "failed",
      "failed",
      "failed",
    ]);
    // Any of them brings all of them back.
    await test.store.redeliverAlert(items[2]!, ["webhook"]);
    const [, again] = (
      await test.client.xrevrange(`igw:{${organizationId}}:outbox`, "+", "-", "COUNT", 1)
    )[0]!;
    expect(again).toEqual(expect.arrayContaining([first!.id, "2:id", "3:id", "only", "webhook"]));
    expect(again).not.toContain("4:id");
  });

  it("of schema 1 are a message each", async () => {
    const key = await createKey({ limits: monthLimits({ budget: 100 }) });
    const { organizationId } = key;
    await spend(key, 80n * CENT);
    const outbox = `igw:{${organizationId}}:outbox`;
    const [[, fields]] = (await test.client.xrange(outbox, "-", "+")) as [[string, string[]]];
    const old = fields.filter((_text, index) => fields[index - (index % 2)] !== "message");
    expect(old).toHaveLength(fields.length - 2);
    await test.client.del(outbox, `igw:{${organizationId}}:alerts`);
    await test.client.xadd(outbox, "*", ...old);
    await test.client.xadd(`igw:{${organizationId}}:alerts`, "*", ...old);
    const [alert] = await listAlerts(key);
    expect(alert!.messageId).toBe(alert!.id);
    expect(await test.store.claimDelivery(organizationId, "email", "test", 1_000)).toMatchObject({
      message: { id: alert!.id, alerts: [alert] },
    });
  });

  it("say what was reached, by what, when and in which month", async () => {
    const before = await test.store.timeMs();
    const key = await createKey(
      { name: "nightly ✓", limits: monthLimits({ budget: 4000 }) },
      { currency: "EUR" },
    );
    const { month } = await createIdentity(test.store, key);
    await spend(key, 3207n * CENT + 999_999n);
    const [alert] = await listAlerts(key);
    expect(alert).toEqual({
      id: alert?.messageId,
      messageId: expect.any(String),
      organizationId: key.organizationId,
      kind: "budget",
      scope: "key",
      period: "month",
      windowStart: `${month}-01`,
      ownerId: null,
      ownerName: null,
      keyId: key.keyId,
      keyName: "nightly ✓",
      thresholdPercent: 80,
      amountCents: 4000,
      spentMicrocents: 3207n * CENT + 999_999n,
      currency: "EUR",
      month,
      firedAtMs: expect.any(Number),
    });
    expect(alert!.firedAtMs).toBeGreaterThanOrEqual(before);
    expect(await test.store.findAlert(key.organizationId, alert!.id)).toMatchObject(alert!);
  });

  it("stay silent one microcent before, and at an amount of 0", async () => {
    const key = await createKey(
      { limits: monthLimits({ cap: 0, budget: 100 }) },
      { limits: monthLimits({ cap: 0 }) },
    );
    await spend(key, 80n * CENT - 1n);
    expect(await summarize(key)).toEqual([]);
    await spend(key, 1n);
    expect(await summarize(key)).toEqual(["key budget 80% of 100"]);
  });

  it("fire once, however much is spent after", async () => {
    const key = await createKey({ limits: monthLimits({ budget: 10 }) });
    for (let count = 0; count < 20; count += 1) await spend(key, 2n * CENT);
    expect(await summarize(key)).toEqual(["key budget 80% of 10", "key budget 100% of 10"]);
  });

  it.each([
    { name: "10^14", amountCents: 100_000_000 },
    { name: "2^53", amountCents: 9_000_000_000 },
  ])("are exact to the microcent around $name", async ({ amountCents }) => {
    const key = await createKey({ limits: monthLimits({ cap: amountCents }) });
    const ninety = BigInt(amountCents) * 900_000n;
    await spend(key, ninety - 1n);
    expect(await summarize(key)).toEqual([]);
    await spend(key, 1n);
    await spend(key, BigInt(amountCents) * 100_000n - 1n);
    expect(await summarize(key)).toEqual([`key hard_cap 90% of ${amountCents}`]);
    await spend(key, 1n);
    const alerts = await listAlerts(key);
    expect(alerts.map(({ spentMicrocents }) => spentMicrocents)).toEqual([
      ninety,
      BigInt(amountCents) * CENT,
    ]);
  });

  it("of an organization count all of its keys", async () => {
    const first = await createKey({}, { limits: monthLimits({ budget: 10 }) });
    const second = await addTestKey(test.store, first.organizationId);
    await spend(first, 5n * CENT);
    await spend(second, 3n * CENT);
    expect(await summarize(first)).toEqual(["organization budget 80% of 10"]);
    expect(await listAlerts(first)).toMatchObject([{ keyId: null, keyName: null }]);
  });
});

describe("a correction", () => {
  it("fires what it reaches, and nothing again after one that took spend back", async () => {
    const key = await createKey(
      { limits: monthLimits({ budget: 10 }) },
      { limits: monthLimits({ budget: 100 }) },
    );
    const correct = (correctionId: string, keyId: string | null, amountMicrocents: bigint) =>
      test.store.correct({ organizationId: key.organizationId, keyId, correctionId, amountMicrocents });
    await correct("corr_1", key.keyId, 8n * CENT);
    await correct("corr_2", key.keyId, -8n * CENT);
    await correct("corr_3", key.keyId, 8n * CENT);
    expect(await summarize(key)).toEqual(["key budget 80% of 10"]);
    await correct("corr_4", null, 72n * CENT);
    await correct("corr_4", null, 72n * CENT);
    expect(await summarize(key)).toEqual(["key budget 80% of 10", "organization budget 80% of 100"]);
  });
});

describe("an amount that is changed", () => {
  it("fires at once when it is under what is spent already, for the new amount", async () => {
    const key = await createKey(
      { limits: monthLimits({ cap: 1000 }) },
      { limits: monthLimits({ budget: 1000 }) },
    );
    await spend(key, 95n * CENT);
    await test.store.changeKey(key, { limits: monthLimits({ cap: 100 }) }, null);
    expect(await summarize(key)).toEqual(["key hard_cap 90% of 100"]);
    await test.store.changeOrganization(key.organizationId, { limits: monthLimits({ budget: 90 }) }, null);
    expect((await summarize(key)).slice(1)).toEqual([
      "organization budget 80% of 90",
      "organization budget 100% of 90",
    ]);
  });

  it("fires again when it was raised and is reached again, and not for an amount that it had before", async () => {
    const key = await createKey({ limits: monthLimits({ cap: 100 }) });
    await spend(key, 100n * CENT);
    await test.store.changeKey(key, { limits: monthLimits({ cap: 200 }) }, null);
    await spend(key, 79n * CENT);
    expect(await summarize(key)).toHaveLength(2);
    await spend(key, 1n * CENT);
    expect((await summarize(key)).slice(2)).toEqual(["key hard_cap 90% of 200"]);
    await test.store.changeKey(key, { limits: monthLimits({ cap: 100 }) }, null);
    await test.store.changeKey(key, { limits: [] }, null);
    await test.store.changeKey(key, { limits: monthLimits({ cap: 100 }), name: "renamed" }, null);
    expect(await summarize(key)).toHaveLength(3);
  });

  it("below an amount that has fired fires for what is spent, raised again to that amount nothing, at 0 nothing", async () => {
    const key = await createKey({ limits: monthLimits({ cap: 100 }) });
    await spend(key, 95n * CENT);
    expect(await summarize(key)).toEqual(["key hard_cap 90% of 100"]);
    const change = (hardCapCents: number | null) =>
      test.store.changeKey(key, { limits: monthLimits({ cap: hardCapCents }) }, null);
    await change(50);
    const lowered = ["key hard_cap 90% of 100", "key hard_cap 90% of 50", "key hard_cap 100% of 50"];
    expect(await summarize(key)).toEqual(lowered);
    for (const cents of [100, 0, null, 50]) await change(cents);
    expect(await summarize(key)).toEqual(lowered);
    await change(100);
    await spend(key, 5n * CENT);
    expect(await summarize(key)).toEqual([...lowered, "key hard_cap 100% of 100"]);
  });

  it("fires nothing when the change is refused", async () => {
    const key = await createKey({});
    await spend(key, 10n * CENT);
    const stale = await test.store.changeKey(key, { limits: monthLimits({ budget: 1 }) }, 99);
    expect(stale.outcome).toBe("version_conflict");
    await test.store.changeOrganization(key.organizationId, { limits: monthLimits({ budget: 1 }) }, 99);
    expect(await summarize(key)).toEqual([]);
  });
});

describe("500 charges at once", () => {
  it("over several thresholds fire each of them once, and put each into the outbox once", async () => {
    const key = await createKey(
      { limits: monthLimits({ cap: 400, budget: 100 }) },
      { limits: monthLimits({ cap: 450, budget: 300 }) },
    );
    const before = test.store.firedAlerts();
    const stores = await Promise.all([connectStore(test.address), connectStore(test.address)]);
    const identities = await Promise.all(Array.from({ length: 500 }, () => createIdentity(test.store, key)));
    await Promise.all(
      identities.map((identity, index) =>
        stores[index % 2]!.store.charge(chargeInput(identity, 1, CENT, { final: FINAL })),
      ),
    );
    const all = await summarize(key);
    expect([...all].sort()).toEqual(
      [
        "key budget 100% of 100",
        "key budget 80% of 100",
        "key hard_cap 100% of 400",
        "key hard_cap 90% of 400",
        "organization budget 100% of 300",
        "organization budget 80% of 300",
        "organization hard_cap 100% of 450",
        "organization hard_cap 90% of 450",
      ].sort(),
    );
    expect(await test.client.xlen(`igw:{${key.organizationId}}:outbox`)).toBe(8);
    expect(stores.map(({ store }) => store.firedAlerts()).reduce((sum, count) => sum + count)).toBe(8);
    expect(test.store.firedAlerts()).toBe(before);
    for (const { client } of stores) client.disconnect();
  });
});

const ANNA = "operator";

describe("the list", () => {
  it("is read by each person alone, and what fired before a person was there is not new", async () => {
    const key = await createKey({ limits: monthLimits({ budget: 100 }) });
    const { organizationId } = key;
    const before = createId("user", Date.now() - 1_000);
    await spend(key, 100n * CENT);
    const after = createId("user", Date.now() + 60_000);
    const count = (reader: string) => test.store.countUnreadAlerts(organizationId, reader);
    expect([await count(ANNA), await count(before), await count(after)]).toEqual([2, 2, 0]);
    await test.store.markAlertsRead(organizationId, before);
    expect([await count(ANNA), await count(before)]).toEqual([2, 0]);
  });

  it("pages from the newest on and counts what is unread", async () => {
    const key = await createKey({ limits: monthLimits({ cap: 100, budget: 100 }) });
    await spend(key, 100n * CENT);
    const { organizationId } = key;
    expect(await test.store.countUnreadAlerts(organizationId, ANNA)).toBe(4);
    const first = await test.store.listAlerts(organizationId, { limit: 3, after: null });
    const second = await test.store.listAlerts(organizationId, { limit: 3, after: first.next });
    const kinds = [...first.items, ...second.items].map(
      ({ kind, thresholdPercent }) => `${kind} ${thresholdPercent}`,
    );
    expect(kinds).toEqual(["hard_cap 100", "hard_cap 90", "budget 100", "budget 80"]);
    expect(second.next).toBeNull();
    const whole = await test.store.listAlerts(organizationId, { limit: 3, after: null, wholeMessages: true });
    expect([whole.items.length, whole.next]).toEqual([4, null]);
    await test.store.markAlertsRead(organizationId, ANNA);
    expect(await test.store.countUnreadAlerts(organizationId, ANNA)).toBe(0);
    await test.store.changeKey(key, { limits: monthLimits({ budget: 120 }) }, null);
    expect(await test.store.countUnreadAlerts(organizationId, ANNA)).toBe(1);
    const newest = await test.store.listAlerts(organizationId, {
      limit: 1,
      after: null,
      wholeMessages: true,
    });
    expect(newest.items).toHaveLength(1);
    const rest = { limit: 1, after: newest.next, wholeMessages: true } as const;
    expect((await test.store.listAlerts(organizationId, rest)).items).toHaveLength(4);
  });

  it("finds nothing of another organization, and nothing under what is no id", async () => {
    const key = await createKey({ limits: monthLimits({ budget: 1 }) });
    await spend(key, CENT);
    const [alert] = await listAlerts(key);
    const other = await createKey({});
    expect(await test.store.findAlert(other.organizationId, alert!.id)).toBeNull();
    expect(await test.store.findAlert(key.organizationId, "alert_x")).toBeNull();
    await test.store.markAlertsRead(other.organizationId, ANNA);
    expect(await test.store.countUnreadAlerts(other.organizationId, ANNA)).toBe(0);
  });

  it("keeps what has fired until the month's retention ends", async () => {
    const key = { ...(await createKey({ limits: monthLimits({ budget: 1 }) })) };
    const identity = { ...(await createIdentity(test.store, key)), month: "2027-12", day: "2027-12-31" };
    await test.store.charge(chargeInput(identity, 1, CENT, { final: FINAL }));
    const spend = `igw:{${key.organizationId}}:spend:2027-12`;
    expect(await test.client.hkeys(spend)).toEqual(
      expect.arrayContaining([`fired:key:${key.keyId} budget 1 80`, `fired:key:${key.keyId} budget 1 100`]),
    );
    expect(await readExpiry(test.client, spend)).toBeCloseTo(Date.UTC(2029, 1, 1), -1);
  });
});
