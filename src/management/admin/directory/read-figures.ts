/** Spend and last use of everything that a directory lists. */
import { LIMIT_PERIODS, type LimitPeriod } from "../../../shared/settings/limits.ts";
import type { Store } from "../../../shared/stored/store.ts";
import { type Figures, memberLimitsOf, type Records } from "./list-owners.ts";

/** Buckets that one script reads: a quarter of a millisecond of Redis. */
const BUCKETS = 20;

export async function readFigures(
  store: Pick<Store, "readSpendOf" | "readBuckets">,
  records: Records,
  timeMs: number,
): Promise<Figures> {
  const spend = new Map<LimitPeriod, ReadonlyMap<string, bigint>>();
  for (const period of LIMIT_PERIODS) {
    spend.set(period, await store.readSpendOf(records.organization.id, period, subjectsOf(records, period)));
  }
  return { timeMs, spend, lastUses: await readLastUses(store, records) };
}

/** Lists the subjects with a spend in this period: all for the month, otherwise those with a limit. */
function subjectsOf(records: Records, period: LimitPeriod): string[] {
  const { organization, keys, users, groups } = records;
  const isWanted = (limits: readonly { readonly period: LimitPeriod }[]): boolean =>
    period === "month" || limits.some((limit) => limit.period === period);
  return [
    ...(isWanted(organization.limits) ? ["organization"] : []),
    ...keys.filter(({ limits }) => isWanted(limits)).map(({ id }) => `key:${id}`),
    ...[...users.values()]
      .filter((user) => isWanted(memberLimitsOf(user, records)))
      .map(({ id }) => `user:${id}`),
    ...[...groups.values()].filter(({ limits }) => isWanted(limits)).map(({ id }) => `group:${id}`),
  ];
}

async function readLastUses(
  store: Pick<Store, "readBuckets">,
  { organization, keys }: Records,
): Promise<ReadonlyMap<string, number>> {
  const uses = new Map<string, number>();
  for (let start = 0; start < keys.length; start += BUCKETS) {
    const ids = keys.slice(start, start + BUCKETS).map(({ id }) => id);
    for (const [id, { lastUsedMs }] of await store.readBuckets(organization.id, ids)) {
      if (lastUsedMs !== null) uses.set(id, lastUsedMs);
    }
  }
  return uses;
}
