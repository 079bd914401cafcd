/** Limits of alerts as they are now: an alert keeps the amount that it fired for. */
import { formatOwnerIds } from "../../../shared/stored/owner-ids.ts";
import type { AlertRecord } from "../../../shared/stored/alerts.ts";
import type { LimitStatus } from "../../../shared/stored/reporting.ts";
import type { Store } from "../../../shared/stored/store.ts";
import { findLimitKind } from "../../alerts/alert-names.ts";
import { formatLimit } from "../format.ts";

/** Finds the limit of an alert now; null: removed, or its owner was deleted. */
export type LimitNow = (alert: AlertRecord) => LimitStatus | null;

/** Reads the limits of each owner once. */
export async function readLimitsNow(
  store: Pick<Store, "readLimits">,
  organizationId: string,
  alerts: readonly AlertRecord[],
): Promise<LimitNow> {
  const limited = alerts.filter((alert) => findLimitKind(alert) !== null);
  const owners = new Map(limited.map((alert) => [ownerOf(alert), alert]));
  const read = await Promise.all(
    [...owners].map(async ([owner, { scope, keyId, ownerId }]) => {
      const ids = formatOwnerIds({
        userId: scope === "user" ? ownerId : null,
        groupId: scope === "group" ? ownerId : null,
      });
      const { limits } = await store.readLimits(organizationId, { keyId, owners: ids });
      return [owner, limits.filter((limit) => limit.scope === scope)] as const;
    }),
  );
  const limitsOf = new Map(read);
  return (alert) => {
    const kind = findLimitKind(alert);
    const limits = limitsOf.get(ownerOf(alert)) ?? [];
    return limits.find((limit) => limit.period === alert.period && limit.kind === kind) ?? null;
  };
}

function ownerOf({ scope, keyId, ownerId }: AlertRecord): string {
  return `${scope} ${keyId ?? ownerId ?? ""}`;
}

/** Returns "raised since to 20.00 USD", "removed since"; '' if the limit is as it was. */
export function describeChange({ amountCents, currency }: AlertRecord, now: LimitStatus | null): string {
  if (now === null) return "removed since";
  if (now.cents === amountCents) return "";
  return `${now.cents > amountCents ? "raised" : "lowered"} since to ${formatLimit(now.cents, currency)}`;
}
