/** Spend of an organization and of its API keys, users and groups, by day. */
import { parseOwnerIds } from "../../shared/stored/owner-ids.ts";
import type { LimitScope } from "../../shared/stored/decision.ts";
import type { UsageRow } from "../../shared/stored/reporting.ts";
import type { Store } from "../../shared/stored/store.ts";

export interface OwnerSpend {
  readonly scope: LimitScope;
  /** Null: the organization. */
  readonly id: string | null;
  /** Day → microcents. */
  readonly days: ReadonlyMap<string, bigint>;
  readonly microcents: bigint;
}

export type SpendReader = Pick<Store, "readSumsOfDay" | "readOwnerNames" | "getKey">;

/** Keys, users and groups with the most spend, of each. */
const LARGEST = 10;

/** Reads the spend of these days: the organization first, then keys, users and groups, the largest of each first. */
export async function readSpendByOwner(
  store: SpendReader,
  organizationId: string,
  days: readonly string[],
): Promise<readonly OwnerSpend[]> {
  const owners = new Map<string, { scope: LimitScope; id: string | null; days: Map<string, bigint> }>();
  // One day at a time: each is up to 2 MiB of text.
  for (const day of days) {
    for (const row of await store.readSumsOfDay(organizationId, day)) {
      for (const [scope, id] of listOwners(row)) {
        const name = `${scope} ${id ?? ""}`;
        const owner = owners.get(name) ?? { scope, id, days: new Map<string, bigint>() };
        owner.days.set(day, (owner.days.get(day) ?? 0n) + row.costMicrocents);
        owners.set(name, owner);
      }
    }
  }
  const all = [...owners.values()].map((owner) => ({
    ...owner,
    microcents: [...owner.days.values()].reduce((sum, cost) => sum + cost, 0n),
  }));
  return (["organization", "key", "user", "group"] as const).flatMap((scope) =>
    all
      .filter((owner) => owner.scope === scope)
      .toSorted((one, other) => Number(other.microcents - one.microcents)),
  );
}

/** Returns the organization and the largest keys, users and groups. */
export function findLargest(owners: readonly OwnerSpend[]): readonly OwnerSpend[] {
  return owners.filter(({ scope }, index) => index < LARGEST || owners[index - LARGEST]?.scope !== scope);
}

function listOwners({ keyId, owners }: UsageRow): readonly (readonly [LimitScope, string | null])[] {
  const { userId, groupId } = parseOwnerIds(owners);
  const own = [
    ["key", keyId],
    ["user", userId],
    ["group", groupId],
  ] as const;
  return [["organization", null], ...own.filter(([, id]) => id !== null)];
}

/** Reads the name of a key, user or group; null: the organization, or it no longer exists. */
export async function readOwnerName(
  store: SpendReader,
  organizationId: string,
  { scope, id }: Pick<OwnerSpend, "scope" | "id">,
): Promise<string | null> {
  if (id === null) return null;
  if (scope === "key") return (await store.getKey({ organizationId, keyId: id }))?.name ?? null;
  return (await store.readOwnerNames(organizationId, [id])).get(id) ?? null;
}
