/** Reads what `GET /v1/key` reports, for the clients' endpoint and for the dashboard's page of the key's holder. */
import { parseOwnerIds } from "../../../shared/stored/owner-ids.ts";
import type { Store } from "../../../shared/stored/store.ts";
import { formatKeyStatus, type KeyStatus, type KeyStatusInput } from "./key-status.ts";

export type KeyStatusStore = Pick<
  Store,
  "getKey" | "getOrganization" | "getUser" | "getGroup" | "readSpend" | "readLimits"
>;

export interface StatusKey {
  readonly organizationId: string;
  readonly keyId: string;
  /** User and group that the key's requests count for, in the form of `owner-ids.ts`. */
  readonly owners: string;
}

/** Returns null if the key or its organization does not exist. @param rate Level of the key's bucket of requests. */
export async function readKeyStatus(
  store: KeyStatusStore,
  of: StatusKey,
  rate: Pick<KeyStatusInput, "remainingRequests" | "burst">,
): Promise<KeyStatus | null> {
  const { organizationId, keyId, owners } = of;
  const { userId, groupId } = parseOwnerIds(owners);
  const [key, organization, spend, limits, user, group] = await Promise.all([
    store.getKey({ organizationId, keyId }),
    store.getOrganization(organizationId),
    store.readSpend(organizationId, null, [keyId]),
    store.readLimits(organizationId, { keyId, owners }),
    userId === null ? null : store.getUser(organizationId, userId),
    groupId === null ? null : store.getGroup(organizationId, groupId),
  ]);
  if (key === null || organization === null) return null;
  return formatKeyStatus({ key, organization, user, group, spend, limits, ...rate });
}
