import type { Limit } from "../../../shared/settings/limits.ts";
import type { LimitStatus } from "../../../data-path/store/types/reporting.ts";
import type { Store } from "../../../data-path/store/types.ts";
import { MICROCENTS_PER_CENT } from "../../../shared/money/money.ts";
import { formatLimit, isReachedCap } from "../../../data-path/limits/key-status.ts";
import type { OwnerKind } from "../../../data-path/store/types/owner-kinds.ts";

/**
 * Reads own limits of a key or organization in other windows than the month, with their spend. Sends no
 * command if there are none.
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
  /** All limits that apply to it, including inherited ones. */
  readonly limits: readonly Limit[];
}

/**
 * Reads the tightest limit of each owner, in their order; null: no limit. Sends one command per owner with
 * limits, all at once.
 */
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

/** @param tightest Null: not requested. */
export function withTightest(
  shown: readonly object[],
  tightest: readonly (object | null)[] | null,
): readonly object[] {
  if (tightest === null) return shown;
  return shown.map((one, place) => ({ ...one, tightest_limit: tightest[place] ?? null }));
}

/** Returns the tightest limit: a reached cap, which rejects requests, precedes a budget that is exceeded by more. */
function findTightest(limits: readonly LimitStatus[]): LimitStatus | null {
  const urgency = (limit: LimitStatus): number => (isReachedCap(limit) ? 1 : 0);
  const sorted = limits.toSorted((one, other) => {
    return urgency(other) - urgency(one) || shareOf(other) - shareOf(one);
  });
  return sorted[0] ?? null;
}

/** Returns the used share; a limit of 0 is used up. */
function shareOf({ cents, spentMicrocents }: LimitStatus): number {
  return cents === 0 ? Number.MAX_VALUE : Number(spentMicrocents) / (cents * MICROCENTS_PER_CENT);
}
