/** Alerts that a look at the spend fires: forecasts, sudden spend and summaries, the last by a real mail server. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createMailer } from "../../src/management/alerts/mailer.ts";
import { AlertWatch, chooseByRotation, watchOrganization } from "../../src/management/alerts/watch.ts";
import type { OrganizationSettings } from "../../src/shared/settings/organization.ts";
import { DAY_MS, dayAt } from "../../src/shared/time/calendar.ts";
import { addDays } from "../../src/shared/time/day-range.ts";
import {
  addTestKey,
  chargeInput,
  createIdentity,
  createTestKey,
  FINAL,
  type TestKey,
  withTestStore,
} from "../store/fixture.ts";
import { type MailServer, startMailServer } from "../support/mail-server.ts";
import { monthLimits } from "../support/month-limits.ts";
import { NO_WATCH } from "../support/no-watch.ts";
import { CENT, trackDeliveries, waitForStates } from "./delivery-fixture.ts";

const test = withTestStore();
const { start } = trackDeliveries(
  () => test,
  () => ({ answer: null, received: [] }) as never,
);

const NOTIFICATIONS = { ...NO_WATCH, dashboard: true, emails: [], webhook: null, webhooks: [] };
type Notifications = Partial<OrganizationSettings["notifications"]>;

const createWatched = (notifications: Notifications, limits: OrganizationSettings["limits"] = []) =>
  createTestKey(
    test.store,
    { name: "ci" },
    { notifications: { ...NOTIFICATIONS, ...notifications }, limits },
  );

/** One request of a day that costs this much. */
async function spendOn(key: TestKey, day: string, cents: number): Promise<void> {
  const identity = { ...(await createIdentity(test.store, key)), day, month: day.slice(0, 7) };
  await test.store.charge(chargeInput(identity, 1, BigInt(cents) * CENT, { final: FINAL }));
}

/** So many cents on each of the seven days before this one. */
async function spendWeek(key: TestKey, today: string, cents: number): Promise<void> {
  for (let back = 7; back >= 1; back -= 1) await spendOn(key, addDays(today, -back), cents);
}

async function look({ organizationId }: TestKey, nowMs: number): Promise<void> {
  await watchOrganization(test.store, (await test.store.getOrganization(organizationId))!, nowMs);
}

async function list({ organizationId }: TestKey) {
  const { items } = await test.store.listAlerts(organizationId, { limit: 100, after: null });
  return items.toReversed();
}

const summarize = async (key: TestKey) =>
  (await list(key)).map(({ scope, kind, keyName }) => [scope, kind, keyName ?? ""].join(" ").trim());

describe("a forecast above a monthly limit", () => {
  it("alerts once for each limit and amount, before the limit is reached, of the organization and of a key", async () => {
    const nowMs = await test.store.timeMs();
    const today = dayAt(nowMs).name;
    const key = await createWatched({ forecast: true });
    await spendWeek(key, today, 100);
    const { organizationMicrocents } = await test.store.readSpend(key.organizationId, null);
    const spent = Number(organizationMicrocents / CENT);
    const limits = monthLimits({ cap: spent + 50 });
    await test.store.changeOrganization(key.organizationId, { limits }, null);
    await test.store.changeKey(key, { limits: monthLimits({ budget: 1_000_000 }) }, null);
    // What is near its limit fires on its own, too.
    const before = await summarize(key);
    await look(key, nowMs);
    await look(key, nowMs);
    expect((await summarize(key)).slice(before.length)).toEqual(["organization hard_cap_forecast"]);
    expect((await list(key)).at(-1)).toMatchObject({
      period: "month",
      windowStart: `${today.slice(0, 7)}-01`,
      amountCents: spent + 50,
      spentMicrocents: organizationMicrocents,
    });
    await test.store.changeKey(key, { limits: monthLimits({ budget: spent + 60 }) }, null);
    const withBudget = await summarize(key);
    await look(key, nowMs);
    expect((await summarize(key)).slice(withBudget.length)).toEqual(["key budget_forecast ci"]);
    await spendOn(key, today, 100);
    await test.store.changeOrganization(
      key.organizationId,
      { limits: monthLimits({ cap: spent + 90 }) },
      null,
    );
    const reached = await summarize(key);
    await look(key, nowMs);
    expect((await summarize(key)).slice(reached.length)).toEqual([]);
  });

  it("alerts for every owner with a limit, not only for those that spend most", async () => {
    const nowMs = await test.store.timeMs();
    const today = dayAt(nowMs).name;
    const small = await createWatched({ forecast: true });
    const { organizationId } = small;
    await spendWeek(small, today, 100);
    for (let more = 0; more < 10; more += 1) {
      await spendWeek(await addTestKey(test.store, organizationId, { name: `large-${more}` }), today, 1_000);
    }
    const { keyMicrocents } = await test.store.readSpend(organizationId, null);
    const budget = Number((keyMicrocents.get(small.keyId) ?? 0n) / CENT) + 50;
    await test.store.changeKey(small, { limits: monthLimits({ budget }) }, null);
    const before = await summarize(small);
    await look(small, nowMs);
    expect((await summarize(small)).slice(before.length)).toEqual(["key budget_forecast ci"]);
  });

  it("reads the limits of at most so many owners in a look, and of all in the following looks", () => {
    const owners = Array.from({ length: 25 }, (_, index) => ({ scope: "key" as const, id: `key_${index}` }));
    const turns = [7, 8, 9].map((turn) => chooseByRotation(owners.toReversed(), 10, turn));
    expect(turns.map((turn) => turn.length)).toEqual([10, 5, 10]);
    expect(new Set(turns.flat())).toEqual(new Set(owners));
    expect(chooseByRotation(owners, 25, 3)).toBe(owners);
    const whole = { scope: "organization" as const, id: null };
    expect(turns.map((_, turn) => chooseByRotation([whole, ...owners], 10, turn)[0])).toEqual([
      whole,
      whole,
      whole,
    ]);
  });

  it("does not alert where it is off, or after two days of spend", async () => {
    const nowMs = await test.store.timeMs();
    const today = dayAt(nowMs).name;
    const off = await createWatched({});
    await spendWeek(off, today, 100);
    const young = await createWatched({ forecast: true, suddenSpendPercent: 110 });
    await spendOn(young, addDays(today, -2), 100);
    await spendOn(young, addDays(today, -1), 100);
    for (const key of [off, young]) {
      const { organizationMicrocents } = await test.store.readSpend(key.organizationId, null);
      const cap = Number(organizationMicrocents / CENT) + 50;
      await test.store.changeOrganization(key.organizationId, { limits: monthLimits({ cap }) }, null);
      const before = await summarize(key);
      await look(key, nowMs);
      expect(await summarize(key)).toEqual(before);
    }
  });
});

describe("sudden spend", () => {
  it("alerts once a day at its percentage of a usual day, not below 1.00", async () => {
    const nowMs = await test.store.timeMs();
    const today = dayAt(nowMs).name;
    const key = await createWatched({ suddenSpendPercent: 300 });
    await spendWeek(key, today, 100);
    await spendOn(key, today, 299);
    await look(key, nowMs);
    expect(await summarize(key)).toEqual([]);
    await spendOn(key, today, 101);
    const fired = test.store.firedAlerts();
    await look(key, nowMs);
    await look(key, nowMs);
    expect(test.store.firedAlerts()).toBe(fired + 2);
    expect(await summarize(key)).toEqual(["organization sudden_spend", "key sudden_spend ci"]);
    expect((await list(key))[1]).toMatchObject({
      period: "day",
      windowStart: today,
      thresholdPercent: 400,
      amountCents: 100,
      spentMicrocents: 400n * CENT,
    });
    const small = await createWatched({ suddenSpendPercent: 300 });
    await spendWeek(small, today, 1);
    await spendOn(small, today, 99);
    await look(small, nowMs);
    expect(await summarize(small)).toEqual([]);
  });
});

describe("a summary", () => {
  let server: MailServer;
  beforeAll(async () => {
    server = await startMailServer();
  });
  afterAll(() => server.close());

  it("is one email after a week's end, with the week before, the largest keys and the limits", async () => {
    const nowMs = await test.store.timeMs();
    const monday = Date.parse("2026-01-05");
    // The next Monday: the organization was there in the week before, and not in the one before that.
    const weekMs = 7 * DAY_MS;
    const endMs = monday + Math.ceil((nowMs - monday) / weekMs) * weekMs;
    const key = await createWatched(
      { summary: "week", emails: ["finance@example.com"] },
      monthLimits({ budget: 1_000_000 }),
    );
    const day = (back: number) => dayAt(endMs - back * DAY_MS).name;
    await spendOn(key, day(1), 1200);
    await spendOn(key, day(7), 34);
    await spendOn(key, day(8), 617);
    await look(key, endMs + 5 * 3_600_000);
    expect(await summarize(key)).toEqual([]);
    await look(key, endMs + 6 * 3_600_000);
    await look(key, endMs + 3 * DAY_MS);
    expect(await summarize(key)).toEqual(["organization summary"]);
    const from = "Gateway <gateway@example.org>";
    start({ mailer: createMailer({ url: server.url, from, username: null, password: null }) });
    await waitForStates(test, key, "email", ["delivered"]);
    const [{ recipients, mail }] = server.received as [MailServer["received"][number]];
    expect(recipients).toEqual(["finance@example.com"]);
    expect(mail.subject).toMatch(new RegExp(`Spend in the week of ${day(7)}: \\$12\\.34$`));
    expect(mail.text).toContain(
      `The organization has spent $12.34 in the week of ${day(7)}, $6.17 the week before.`,
    );
    expect(mail.text).toContain("API keys: ci $12.34.");
    expect(mail.text).toContain("% of the monthly budget of $10,000.00 is spent.");
    expect(mail.text).toContain(`/usage?from=${day(7)}&to=${day(1)}`);
  });

  it("of a month begins on its first day, and does not fire again in the next month", async () => {
    const year = new Date(await test.store.timeMs()).getUTCFullYear() + 1;
    const key = await createWatched({ summary: "month", emails: ["finance@example.com"] });
    await spendOn(key, `${year}-02-28`, 500);
    await look(key, Date.parse(`${year}-03-01T06:00:00Z`));
    await look(key, Date.parse(`${year}-03-31T23:00:00Z`));
    expect(await list(key)).toMatchObject([
      { kind: "summary", windowStart: `${year}-02-01`, period: "month" },
    ]);
    await look(key, Date.parse(`${year}-04-01T06:00:00Z`));
    expect((await list(key)).map(({ windowStart }) => windowStart)).toEqual([
      `${year}-02-01`,
      `${year}-03-01`,
    ]);
  });

  it("needs an address, and a window in which the organization was there", async () => {
    const nowMs = await test.store.timeMs();
    const without = await createWatched({ summary: "week" });
    const young = await createWatched({ summary: "week", emails: ["finance@example.com"] });
    await look(without, nowMs + 14 * DAY_MS);
    await look(young, nowMs);
    expect([await list(without), await list(young)]).toEqual([[], []]);
  });
});

describe("the watch of a process", () => {
  it("looks at an organization that another process has not looked at in the same quarter of an hour", async () => {
    const nowMs = await test.store.timeMs();
    const key = await createWatched({ suddenSpendPercent: 110 });
    await spendWeek(key, dayAt(nowMs).name, 100);
    await spendOn(key, dayAt(nowMs).name, 200);
    const { organizationId } = key;
    const looked: string[] = [];
    const store = {
      ...test.store,
      listOrganizationIds: async () => [organizationId],
      async timeMs() {
        looked.push(organizationId);
        return test.store.timeMs();
      },
    };
    const logger = { warn: (fields: object) => expect(fields).toEqual({}) };
    const watches = [new AlertWatch({ store, logger }), new AlertWatch({ store, logger })];
    for (const watch of watches) await watch.look();
    expect(await summarize(key)).toEqual(["organization sudden_spend", "key sudden_spend ci"]);
    const times = looked.length;
    for (const watch of watches) await watch.look();
    expect(looked).toHaveLength(times);
  });
});
