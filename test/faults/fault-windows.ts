/**
 * What limits count: in every window of every owner no more and no less than was charged, which in its turn is held against
 * what the upstream says was used; and of what strict caps held for requests nothing is left.
 */
import { verifyWindows } from "../../src/data-path/request-log/verify-windows.ts";
import type { WindowSpend } from "../../src/shared/stored/windows.ts";
import type { Tenant } from "./fault-accounts.ts";
import type { FaultStackOn } from "./fault-stack.ts";

type Reads = Pick<FaultStackOn, "store" | "readHeld">;

/** Whose spend each window has: that of a key and of its organization counts by the month elsewhere. */
const OWNERS = ["group", "user"] as const;
const SCOPES = {
  day: [...OWNERS, "key", "organization"],
  week: [...OWNERS, "key", "organization"],
  month: OWNERS,
  total: [...OWNERS, "key", "organization"],
} as const;
type Period = keyof typeof SCOPES;

/** Says what is wrong, once nothing of theirs is in flight. Of these alone: others may be in the middle of a scenario. */
export async function checkWindows(reads: Reads, tenants: readonly Tenant[]): Promise<string[]> {
  const problems = await compareWithUsage(reads, tenants);
  for (const tenant of tenants) {
    problems.push(...(await compareWithCharged(reads, tenant)));
    const held = await reads.readHeld(tenant.key.organizationId);
    problems.push(...held.map((field) => `${tenant.name}: nothing is in flight, and ${field} is left`));
  }
  return problems;
}

/** Which counter is not the sum of its owner's rows of usage. */
async function compareWithUsage({ store }: Reads, tenants: readonly Tenant[]): Promise<string[]> {
  const ids = tenants.map(({ key }) => key.organizationId);
  const { month } = await store.readSpend(ids[0] ?? "", null);
  const { compared, differences } = await verifyWindows(
    { ...store, listOrganizationIds: async () => ids },
    month,
  );
  if (compared === 0) return ["no window was compared"];
  return differences.map(({ organizationId, owner, period, window, expected, found }) => {
    const whose = `${organizationId}, ${owner.scope} ${owner.id ?? ""}`;
    return `${whose}: ${found} in the ${period} of ${window ?? "all time"}, and ${expected} in its rows of usage`;
  });
}

/** Which owner's windows of a period do not come to what the tenant was charged: all of its requests are of each owner. */
async function compareWithCharged({ store }: Reads, { name, key }: Tenant): Promise<string[]> {
  const { organizationId } = key;
  const { month, organizationMicrocents: charged } = await store.readSpend(organizationId, null);
  const found = new Map<Period, WindowSpend[]>();
  for (const window of (await store.listWindows(organizationId, month)).windows) {
    const spends = await store.readWindow(organizationId, window);
    found.set(window.period, [...(found.get(window.period) ?? []), ...spends]);
  }
  const periods = Object.keys(SCOPES) as Period[];
  return periods.flatMap((period) => {
    const spends = found.get(period);
    if (spends === undefined) return [`${name}: counts no ${period}`];
    return SCOPES[period].flatMap((scope) => {
      const own = spends.filter((spend) => spend.scope === scope);
      const sum = own.reduce((total, { microcents }) => total + microcents, 0n);
      const whose = `${name}: what counts of its ${scope} by the ${period}`;
      return sum === charged ? [] : [`${whose} is ${sum}, and ${charged} is charged`];
    });
  });
}

/** Names a tenant that a cap has rejected and that has no alert of this cap. Not for strict caps, which reject below 100 %. */
export async function checkAlerts(
  { store }: Reads,
  { name, key, sent }: Tenant,
  capCents: number,
): Promise<string[]> {
  if (!sent.some(({ status }) => status === 402)) return [];
  const { items } = await store.listAlerts(key.organizationId, { limit: 100, after: null });
  const isOfCap = ({ kind, thresholdPercent, amountCents }: (typeof items)[number]): boolean =>
    kind === "hard_cap" && thresholdPercent === 100 && amountCents === capCents;
  return items.some(isOfCap) ? [] : [`${name}: the cap has rejected requests, and its alert has not fired`];
}
