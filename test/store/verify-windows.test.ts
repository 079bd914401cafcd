/** What limits count, held against usage: `usage verify` by window and owner. */
import { describe, expect, it } from "vitest";
import { DAY_MS, dayAt } from "../../src/shared/time/calendar.ts";
import type { LimitPeriod } from "../../src/shared/settings/limits.ts";
import { type WindowDifference, verifyWindows } from "../../src/data-path/request-log/verify-windows.ts";
import { organizationKey, spendKey } from "../../src/data-path/store/redis/keys.ts";
import { LIMIT_SCOPES, type LimitScope } from "../../src/shared/stored/decision.ts";
import { formatOwnerIds } from "../../src/shared/stored/owner-ids.ts";
import { PERIODS as PERIOD_ROWS } from "../../src/shared/time/periods.ts";
import { windowName } from "../../src/data-path/store/usage/windows.ts";
import { canSetClock, microseconds } from "./clock-fixture.ts";
import { addTestKey, chargeInput, FINAL, openRecordInput, USAGE_MONTHS } from "./fixture.ts";
import {
  cap,
  CENT,
  createOwners,
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

const MONTH = "2026-11";
const FAR = 100_000;
const at = (iso: string): void => timed().clock.set(microseconds(iso));

async function setAllLimits(of: Owners): Promise<void> {
  const limits = PERIODS.map((period) => cap(period, FAR));
  for (const scope of LIMIT_SCOPES) await setLimits(of, scope, limits);
}

/** Of one organization. */
async function verify({ organizationId }: Owners, month = MONTH) {
  const { differences, notCompared } = await verifyWindows(timed().store, month);
  const isOwn = (one: { readonly organizationId: string }): boolean => one.organizationId === organizationId;
  return { differences: differences.filter(isOwn), notCompared: notCompared.filter(isOwn) };
}

async function listStarts({ organizationId }: Owners, period: LimitPeriod, month = MONTH) {
  const { windows } = await timed().store.listWindows(organizationId, month);
  return windows.filter((window) => window.period === period).map(({ start }) => start);
}

/** Adds to what a scope has spent in the window of a day, and to nothing else. */
async function tamper(of: Owners, scope: LimitScope, period: LimitPeriod, by: number, day = THURSDAY) {
  const ids = { key: of.key.keyId, user: of.userId, group: of.groupId, organization: null };
  const id = ids[scope];
  const key = spendKey(of.organizationId, windowName(period, day.slice(0, 10)));
  await timed().client.hincrby(key, id === null ? scope : `${scope}:${id}`, by);
  return id;
}

/** One for all windows that are changed and put back: each organization more is held against its usage by every test. */
let spender: Promise<Owners> | null = null;
async function createSpender(): Promise<Owners> {
  const of = await createOwners();
  await setAllLimits(of);
  await spend(of, 100);
  return of;
}

const NAMES = { key: "ci", user: "Zoë", group: "Team" } as const;
const STARTS = { day: "2026-11-19", week: "2026-11-16", month: "2026-11-01", total: null } as const;
const COUNTED = LIMIT_SCOPES.flatMap((scope) => PERIODS.map((period) => ({ scope, period }))).filter(
  // The month of key and organization has no counter of its own: `verifyUsage` compares it.
  ({ scope, period }) => period !== "month" || scope === "user" || scope === "group",
);

describe.skipIf(!canSetClock)("windows held against usage (sets Redis's clock)", () => {
  it("are the same whatever has moved them: charges on many days, open requests, corrections, a counter that began late", async () => {
    at("2026-10-28T12:00:00Z");
    const of = await createOwners();
    const key = await addTestKey(timed().store, of.organizationId);
    const nobodys: Owners = { ...of, key, owners: "" };
    await spend(of, 100);
    await setLimits(of, "user", [cap("week", FAR)]);
    at("2026-11-01T12:00:00Z");
    await spend(of, 10);
    await spend(nobodys, 7, true);
    at("2026-11-12T12:00:00Z");
    await spend(of, 3);
    await setAllLimits(of);
    const open = await identify(of);
    await timed().store.openRecord(openRecordInput(open));
    await timed().store.charge(chargeInput(open, 1, 5n * CENT));
    at("2026-11-16T12:00:00Z");
    await timed().store.charge(chargeInput(open, 2, 9n * CENT, { final: FINAL }));
    for (const keyId of [null, of.key.keyId]) {
      const correctionId = `correction ${keyId}`;
      const { organizationId } = of;
      await timed().store.correct({ organizationId, keyId, correctionId, amountMicrocents: -3n });
    }
    expect(await verify(of)).toEqual({ differences: [], notCompared: [] });
    expect(await listStarts(of, "day")).toEqual(
      Array.from({ length: 6 }, (_, index) => `2026-11-${index + 11}`),
    );
    // That of November 1 began in October.
    expect(await listStarts(of, "week")).toEqual(["2026-10-26", "2026-11-02", "2026-11-09", "2026-11-16"]);
    expect(await listStarts(of, "total")).toEqual([null]);
  });

  it.each(COUNTED)(
    "differ by a microcent in the $period of a $scope, and in no other",
    async ({ scope, period }) => {
      const of = await (spender ??= createSpender());
      const id = await tamper(of, scope, period, -1);
      const { organizationId } = of;
      const organization = await timed().store.getOrganization(organizationId);
      const name = scope === "organization" ? organization?.name : NAMES[scope];
      const difference: WindowDifference = {
        organizationId,
        kind: "spend_of_window",
        owner: { scope, id, name: name ?? null },
        period,
        window: STARTS[period],
        figure: "cost_microcents",
        expected: 100n * CENT,
        found: 100n * CENT - 1n,
      };
      expect((await verify(of)).differences).toEqual([difference]);
      await tamper(of, scope, period, 1);
    },
  );

  it("differ where a counter is gone as a whole, and where it counts somebody who has spent nothing", async () => {
    const of = await createOwners();
    await setAllLimits(of);
    await spend(of, 100);
    await timed().client.del(spendKey(of.organizationId, windowName("week", "2026-11-19")));
    await timed().client.hincrby(spendKey(of.organizationId, "total"), "user:user_nobody", 5);
    const { differences } = await verify(of);
    const told = differences.map(({ owner, period, expected, found }) =>
      [owner.scope, owner.id, period, expected, found].join(" "),
    );
    const ofAll = [`user ${of.userId}`, `group ${of.groupId}`, `key ${of.key.keyId}`, "organization "];
    expect(new Set(told)).toEqual(
      new Set([...ofAll.map((owner) => `${owner} week 100000000 0`), "user user_nobody total 0 5"]),
    );
    expect(differences.find(({ owner }) => owner.id === "user_nobody")?.owner.name).toBeNull();
  });

  it("find a week's difference from either of its months", async () => {
    at("2026-12-01T12:00:00Z");
    const of = await createOwners();
    await setAllLimits(of);
    await spend(of, 100);
    await tamper(of, "user", "week", 1, "2026-12-01");
    for (const month of ["2026-11", "2026-12"]) {
      const { differences } = await verify(of, month);
      expect(differences).toMatchObject([{ period: "week", window: "2026-11-30", owner: { id: of.userId } }]);
    }
  });

  it("are of whoever it was at its admission, in each of two groups", async () => {
    const of = await createOwners();
    await setAllLimits(of);
    await spend(of, 100);
    const alone: Owners = { ...of, owners: formatOwnerIds({ userId: of.userId, groupId: null }) };
    await spend(alone, 20);
    expect((await verify(of)).differences).toEqual([]);
    await tamper(of, "group", "total", 20_000_000);
    expect((await verify(of)).differences).toMatchObject([
      { owner: { scope: "group" }, expected: 100n * CENT, found: 120n * CENT },
    ]);
  });
});

describe.skipIf(!canSetClock)("windows that cannot be held against usage (sets Redis's clock)", () => {
  it.each(["day", "week"] as const)("are those whose counter of a %s is kept no longer", async (period) => {
    at("2026-11-02T00:00:00Z");
    const of = await createOwners();
    await setLimits(of, "user", [cap(period, FAR)]);
    await spend(of, 100);
    const key = spendKey(of.organizationId, windowName(period, "2026-11-02"));
    expect(await timed().client.pttl(key)).toBe(PERIOD_ROWS[period].retentionDays * DAY_MS);
    await tamper(of, "user", period, 1, "2026-11-02");
    const endMs = Date.parse("2026-11-02") + PERIOD_ROWS[period].retentionDays * DAY_MS;
    at(new Date(endMs - DAY_MS / 2).toISOString());
    expect((await verify(of)).differences).toMatchObject([{ period, window: "2026-11-02" }]);
    at(new Date(endMs + 1).toISOString());
    expect(await timed().client.exists(key)).toBe(0);
    expect(await verify(of)).toMatchObject({
      differences: [],
      notCompared: [{ period, to: "2026-11-02", obstacle: "counters_expired" }],
    });
  });

  it("are days before the first limit asked for them: nobody counted these", async () => {
    const of = await createOwners();
    at("2026-11-10T12:00:00Z");
    await spend(of, 100);
    at(THURSDAY);
    await setLimits(of, "key", [cap("day", FAR)]);
    expect(await listStarts(of, "day")).toEqual(["2026-11-18", "2026-11-19"]);
    expect(await verify(of)).toEqual({ differences: [], notCompared: [] });
    expect(await verify(of, "2026-10")).toEqual({ differences: [], notCompared: [] });
  });

  it("are the total, once usage of a part of it is kept no longer", async () => {
    const of = await createOwners();
    await setLimits(of, "user", [cap("total", FAR)]);
    await spend(of, 100);
    await tamper(of, "user", "total", 1);
    const expiryMs = Date.UTC(2026, 11 + USAGE_MONTHS, 1);
    at(new Date(expiryMs - DAY_MS).toISOString());
    const last = dayAt(expiryMs - DAY_MS).name.slice(0, 7);
    expect((await verify(of, last)).differences).toMatchObject([
      { period: "total", found: 100n * CENT + 1n },
    ]);
    at(new Date(expiryMs).toISOString());
    await spend(of, 1);
    expect(await verify(of, dayAt(expiryMs).name.slice(0, 7))).toMatchObject({
      differences: [],
      notCompared: [{ period: "total", from: null, obstacle: "usage_expired" }],
    });
  });

  it("is no total that began later than its organization: what was expired by then it never knew", async () => {
    const of = await createOwners();
    await spend(of, 100);
    at(new Date(Date.UTC(2026, 11 + USAGE_MONTHS, 20)).toISOString());
    await spend(of, 10);
    await setLimits(of, "user", [cap("total", FAR)]);
    await spend(of, 1);
    const month = dayAt(await timed().store.timeMs()).name.slice(0, 7);
    expect(await verify(of, month)).toEqual({ differences: [], notCompared: [] });
    await tamper(of, "user", "total", 1);
    expect((await verify(of, month)).differences).toMatchObject([
      { period: "total", expected: 11n * CENT, found: 11n * CENT + 1n },
    ]);
  });

  it("are all of a period to which what was spent before is being added", async () => {
    const of = await createOwners();
    await spend(of, 100);
    await timed().client.igwBeginWindows({
      organization: organizationKey(of.organizationId),
      furtherArguments: ["day=day:20775"],
    });
    expect(await verify(of)).toMatchObject({
      differences: [],
      notCompared: [{ period: "day", from: null, obstacle: "beginning" }],
    });
  });

  it("are those of months alone in an organization without other limits", async () => {
    const of = await createOwners();
    await setLimits(of, "key", [cap("month", FAR)]);
    await spend(of, 100);
    expect(await timed().store.listWindows(of.organizationId, MONTH)).toEqual({
      windows: [{ period: "month", start: "2026-11-01", days: [], months: [MONTH] }],
      obstructed: [],
    });
    await expect(timed().store.listWindows(of.organizationId, "november")).rejects.toThrow(RangeError);
  });
});
