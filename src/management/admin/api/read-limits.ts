import type { Limit } from "../../../shared/settings/limits.ts";
import type { LimitStatus } from "../../../data-path/store/types/reporting.ts";
import type { Store } from "../../../data-path/store/types.ts";
import { MICROCENTS_PER_CENT } from "../../../shared/money/money.ts";
import { formatLimit, isReachedCap } from "../../../data-path/limits/key-status.ts";
import type { OwnerKind } from "../../../data-path/store/types/owner-kinds.ts";

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

interface LimitedOwner {
  readonly id: string;
  /** All that hold for it, with those that it has from elsewhere. */
  readonly limits: readonly Limit[];
}

/** In the order of the owners; null: it has no limit. Those without one cost nothing, the others a command each, sent at once. */
export function readTightestLimits(
  store: Pick<Store, "readLimits">,
  organizationId: string,
  kind: OwnerKind,
  owners: readonly LimitedOwner[],
): Promise<readonly (object | null)[]> {
  return Promise.all(
    owners.map(async ({ id, limits }) => {
      if (limits.length === 0) return null;
      const reading = await store.readLimits(organizationId, { keyId: null, owners: id });
      const tightest = findTightest(reading.limits.filter(({ scope }) => scope === kind));
      return tightest === null ? null : formatLimit(tightest, reading.timeMs);
    }),
  );
}

/** @param tightest Null: not asked for. */
export function withTightest(
  shown: readonly object[],
  tightest: readonly (object | null)[] | null,
): readonly object[] {
  if (tightest === null) return shown;
  return shown.map((one, place) => ({ ...one, tightest_limit: tightest[place] ?? null }));
}

/** A cap that is reached, which refuses, goes before a budget that is passed by more. */
function findTightest(limits: readonly LimitStatus[]): LimitStatus | null {
  const urgency = (limit: LimitStatus): number => (isReachedCap(limit) ? 1 : 0);
  const sorted = limits.toSorted((one, other) => {
    return urgency(other) - urgency(one) || shareOf(other) - shareOf(one);
  });
  return sorted[0] ?? null;
}

/** A limit of nothing is used up. */
function shareOf({ cents, spentMicrocents }: LimitStatus): number {
  return cents === 0 ? Number.MAX_VALUE : Number(spentMicrocents) / (cents * MICROCENTS_PER_CENT);
}
