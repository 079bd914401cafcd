import type { Limit } from "../../../shared/settings/limits.ts";
import type { LimitStatus } from "../../../data-path/store/types/reporting.ts";
import type { Store } from "../../../data-path/store/types.ts";

/**
 * The limits of a key's or an organization's own in other windows than the month, with what was spent of them. Who has none
 * is not asked for.
 * @param owner Without `organizationId`: an organization.
 */
export async function readOtherLimits(
  store: Pick<Store, "readLimits">,
  organizationId: string,
  owner: { readonly id: string; readonly organizationId?: string; readonly limits: readonly Limit[] },
): Promise<readonly LimitStatus[]> {
  if (owner.limits.length === 0) return [];
  const isKey = owner.organizationId !== undefined;
  const { limits } = await store.readLimits(organizationId, { keyId: isKey ? owner.id : null, owners: "" });
  return limits.filter(
    ({ scope, period }) => scope === (isKey ? "key" : "organization") && period !== "month",
  );
}
