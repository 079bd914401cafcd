/** Keys with all four owners, on a store whose clock the test sets. */
import { afterAll, beforeAll, beforeEach } from "vitest";
import { dayAt } from "../../src/shared/time/calendar.ts";
import type { Limit, LimitPeriod } from "../../src/shared/settings/limits.ts";
import type { OrganizationSettings } from "../../src/shared/settings/organization.ts";
import { spendKey } from "../../src/data-path/store/redis/keys.ts";
import { formatOwnerIds } from "../../src/shared/stored/owner-ids.ts";
import type { LimitScope } from "../../src/shared/stored/decision.ts";
import type { BilledRequest } from "../../src/shared/stored/settlement.ts";
import { windowName } from "../../src/data-path/store/usage/windows.ts";
import { canSetClock, microseconds, openTimedStore, type TimedStore } from "./clock-fixture.ts";
import {
  addTestGroup,
  addTestKey,
  addTestUser,
  admitKnown,
  chargeInput,
  createIdentity,
  createTestOrganization,
  FINAL,
  type TestKey,
} from "./fixture.ts";

export const CENT = 1_000_000n;
/** A Thursday, in a week of which all days are in one month. */
export const THURSDAY = "2026-11-19T12:00:00Z";

let store: TimedStore | undefined;

/** Opened before the first test of a file. */
export function timed(): TimedStore {
  if (store === undefined) throw new Error("the store is not open yet");
  return store;
}

/** Opens it for all tests of a file, on that Thursday before each. */
export function useTimedStore(): void {
  beforeAll(async () => {
    if (canSetClock) store = await openTimedStore(microseconds(THURSDAY));
  });
  beforeEach(() => {
    if (canSetClock) timed().clock.set(microseconds(THURSDAY));
  });
  afterAll(async () => {
    if (canSetClock) await timed().stop();
  });
}

/** A key of a user of a group, with all four owners. */
export interface Owners {
  readonly key: TestKey;
  readonly organizationId: string;
  readonly userId: string;
  readonly groupId: string;
  /** As a request carries it. */
  readonly owners: string;
}

export async function createOwners(settings: Partial<OrganizationSettings> = {}): Promise<Owners> {
  const { id: organizationId } = await createTestOrganization(timed().store, settings);
  const groupId = await addTestGroup(timed().store, organizationId, { name: "Team" });
  const userId = await addTestUser(timed().store, organizationId, { name: "Zoë", groupId });
  const key = await addTestKey(timed().store, organizationId, { userId });
  return { key, organizationId, userId, groupId, owners: formatOwnerIds({ userId, groupId }) };
}

export async function setLimits(of: Owners, scope: LimitScope, limits: readonly Limit[]): Promise<void> {
  const { store } = timed();
  if (scope === "key") await store.changeKey(of.key, { limits }, null);
  else if (scope === "user") await store.changeUser(of.organizationId, of.userId, { limits }, null);
  else if (scope === "group") await store.changeGroup(of.organizationId, of.groupId, { limits }, null);
  else await store.changeOrganization(of.organizationId, { limits }, null);
}

export const cap = (period: LimitPeriod, cents: number): Limit => ({ period, kind: "cap", cents });
export const budget = (period: LimitPeriod, cents: number): Limit => ({ period, kind: "budget", cents });

export async function identify(of: Owners, model = "acme/echo-small"): Promise<BilledRequest> {
  return { ...(await createIdentity(timed().store, of.key)), owners: of.owners, model };
}

export async function spend(of: Owners, cents: number, isSingleCharge?: true): Promise<BilledRequest> {
  const identity = await identify(of);
  await timed().store.charge(
    chargeInput(identity, 1, BigInt(cents) * CENT, { final: FINAL, isSingleCharge }),
  );
  return identity;
}

export async function decide(of: Owners): Promise<string> {
  const { decision, reachedCap } = await admitKnown(timed().store, of.key);
  return reachedCap === null ? decision : `${decision} ${reachedCap.period}`;
}

/** Microcents, of each owner, in the windows of a time; 0 where nothing is counted. */
export async function spentIn(of: Owners, period: LimitPeriod, timeMs?: number): Promise<bigint[]> {
  const { store, client } = timed();
  const { name: day } = dayAt(timeMs ?? (await store.timeMs()));
  const subjects = [`key:${of.key.keyId}`, `user:${of.userId}`, `group:${of.groupId}`, "organization"];
  const counted = await client.hmget(spendKey(of.organizationId, windowName(period, day)), ...subjects);
  return counted.map((value) => BigInt(value ?? "0"));
}

/** A request that its worker left. */
export async function closeOverdue(of: Owners): Promise<void> {
  const { store } = timed();
  for (const request of await store.listOverdue(of.organizationId, 10)) {
    await store.close(request);
  }
}

export const PERIODS = ["day", "week", "month", "total"] as const;
