/**
 * Whose requests the suite sends: keys of users in groups, in organizations that count every window. Nothing of that may be
 * seen but in the accounts: all limits are far, but for one cap of the capped and one of the strict tenant.
 */
import type { Limit } from "../../src/settings/limits.ts";
import type { OrganizationSettings } from "../../src/settings/organization.ts";
import { defaultsOf } from "../../src/settings/table.ts";
import { USER_GROUP_SETTINGS } from "../../src/settings/user-group.ts";
import { USER_SETTINGS } from "../../src/settings/user.ts";
import type { Store } from "../../src/store/types.ts";
import { type CreatedKey, createTestKey } from "../support/test-key.ts";

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

/** By turns the caps of an organization's month and those of other windows and owners: each scenario has its own. */
export function planTenants(capCents: number, turn: number): Readonly<Record<keyof Tenants, TenantPlan>> {
  const cap = (period: Limit["period"]): Limit => ({ period, kind: "cap", cents: capCents });
  if (turn % 2 === 0) {
    const organization = { hardCapCents: capCents };
    return {
      open: OPEN,
      capped: { ...OPEN, organization },
      strict: { ...OPEN, organization: { ...organization, strictCaps: true } },
    };
  }
  return {
    open: OPEN,
    capped: { ...OPEN, group: [cap("week")] },
    strict: { ...OPEN, organization: { strictCaps: true }, user: [cap("total")] },
  };
}

/** @throws Error when one of them could not be made. */
export async function createTenant(store: Store, plan: TenantPlan): Promise<CreatedKey> {
  const organizationLimits = [far("day"), far("week", "budget"), far("total")];
  const organization = { limits: organizationLimits, memberLimits: [far("week")], ...plan.organization };
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
