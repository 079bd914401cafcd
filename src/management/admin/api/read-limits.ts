import type { Limit } from "../../../shared/settings/limits.ts";
import type { LimitStatus } from "../../../data-path/store/types/reporting.ts";
import type { Store } from "../../../data-path/store/types.ts";

/**
 * Reads own limits of a key or organization with their spend. Sends no command if there are none.
 * @param owner Without `organizationId`: an organization.
 */
export async function readOwnLimits(
  store: Pick<Store, "readLimits">,
  organizationId: string,
  owner: { readonly id: string; readonly organizationId?: string; readonly limits: readonly Limit[] },
): Promise<readonly LimitStatus[]> {
  if (owner.limits.length === 0) return [];
  const isKey = owner.organizationId !== undefined;
  const { limits } = await store.readLimits(organizationId, { keyId: isKey ? owner.id : null, owners: "" });
  return limits.filter(({ scope }) => scope === (isKey ? "key" : "organization"));
}
