/**
 * Whose requests the suite sends: keys of users in groups, in organizations that count every window. Nothing of that may be
 * seen but in the accounts: all limits are far, but for one cap of the capped and one of the strict tenant.
 */
import type { Limit } from "../../src/shared/settings/limits.ts";
import type { OrganizationSettings } from "../../src/shared/settings/organization.ts";
import { defaultsOf } from "../../src/shared/settings/table.ts";
import { USER_GROUP_SETTINGS } from "../../src/shared/settings/user-group.ts";
import { USER_SETTINGS } from "../../src/shared/settings/user.ts";
import type { Store } from "../../src/shared/stored/store.ts";
import { type CreatedKey, createTestKey } from "../support/test-key.ts";
import { monthLimits } from "../support/month-limits.ts";

export interface Tenants {
  readonly open: CreatedKey;
  readonly capped: CreatedKey;
  readonly strict: CreatedKey;
}

/** What a tenant is made with, beside limits that are far. */
export interface TenantPlan {
  readonly organization: Partial<OrganizationSettings>;
  /** Of the pool of its group. */
  readonly group: readonly Limit[];
  /** Of its user. */
  readonly user: readonly Limit[];
}

const FAR_CENTS = 9_000_000_000;
const far = (period: Limit["period"], kind: Limit["kind"] = "cap"): Limit => ({
  period,
  kind,
  cents: FAR_CENTS,
});
const OPEN: TenantPlan = { organization: {}, group: [], user: [] };

/** A cap of each kind that the suite meets: of an organization's month, of a group's week, of all that a user ever spends. */
const CAPS: readonly ((cents: number) => TenantPlan)[] = [
  (cents) => ({ ...OPEN, organization: { limits: monthLimits({ cap: cents }) } }),
  (cents) => ({ ...OPEN, group: [{ period: "week", kind: "cap", cents }] }),
  (cents) => ({ ...OPEN, user: [{ period: "total", kind: "cap", cents }] }),
];

/**
 * The default cap of a scenario is of one kind and its strict one of the next: two turns in a row meet all kinds, and three
 * meet each of them both ways.
 */
export function planTenants(capCents: number, turn: number): Readonly<Record<keyof Tenants, TenantPlan>> {
  const capOf = (number: number): TenantPlan => CAPS[number % CAPS.length]?.(capCents) ?? OPEN;
  const strict = capOf(turn + 1);
  return {
    open: OPEN,
    capped: capOf(turn),
    strict: { ...strict, organization: { ...strict.organization, strictCaps: true } },
  };
}

/** @throws Error when one of them could not be made. */
export async function createTenant(store: Store, plan: TenantPlan): Promise<CreatedKey> {
  const { limits = [], ...settings } = plan.organization;
  const organization = {
    limits: [far("day"), far("week", "budget"), far("total"), ...limits],
    memberLimits: [far("week")],
    ...settings,
  };
  const key = await createTestKey(store, { limits: [far("day"), far("week")] }, organization);
  const { organizationId, id: keyId } = key;
  const group = await store.createGroup(organizationId, {
    ...defaultsOf(USER_GROUP_SETTINGS),
    name: "Team",
    limits: [far("day"), far("month"), ...plan.group],
    memberLimits: [far("week")],
  });
  if (group.outcome !== "created") throw new Error(group.outcome);
  const user = await store.createUser(organizationId, {
    ...defaultsOf(USER_SETTINGS),
    name: "Zoë",
    groupId: group.owner.id,
    limits: [far("day"), far("month", "budget"), ...plan.user],
  });
  if (user.outcome !== "created") throw new Error(user.outcome);
  await store.changeKey({ organizationId, keyId }, { userId: user.owner.id }, null);
  return key;
}
