/**
 * Compares the counters of limit windows with the usage rows of the same days. Reports every difference and corrects
 * none.
 */
import type { WindowPeriod } from "../../shared/time/periods.ts";
import type { Store } from "../../shared/stored/store.ts";
import type { LimitScope } from "../../shared/stored/decision.ts";
import { parseOwnerIds } from "../../shared/stored/owner-ids.ts";
import type { UsageRow } from "../../shared/stored/reporting.ts";
import { FIGURE_NAMES } from "../../shared/usage/usage-figures.ts";
import type { CountedWindow, ObstructedWindows } from "../../shared/stored/windows.ts";

/** A counter that is not the sum of its owner's usage rows. */
export interface WindowDifference {
  readonly organizationId: string;
  readonly kind: "spend_of_window";
  readonly owner: WindowOwner;
  readonly period: WindowPeriod;
  /** First day of the window; null: all time. */
  readonly window: string | null;
  readonly figure: typeof FIGURE_NAMES.costMicrocents;
  readonly expected: bigint;
  readonly found: bigint;
}

interface WindowOwner {
  readonly scope: LimitScope;
  /** Null: the organization. */
  readonly id: string | null;
  /** Null: no longer known. */
  readonly name: string | null;
}

export interface WindowVerification {
  /** Organizations with windows. */
  readonly organizations: number;
  /** Windows that were compared with usage. */
  readonly compared: number;
  readonly notCompared: readonly (ObstructedWindows & { readonly organizationId: string })[];
  readonly differences: readonly WindowDifference[];
}

type VerifyStore = Pick<
  Store,
  | "listOrganizationIds"
  | "listWindows"
  | "readWindow"
  | "readUsage"
  | "readUsageOfDay"
  | "getOrganization"
  | "getKey"
  | "getUser"
  | "getGroup"
>;

/** Verifies the windows with a day in this month, and the totals. Exact if no request is in flight. */
export async function verifyWindows(store: VerifyStore, month: string): Promise<WindowVerification> {
  let organizations = 0;
  let compared = 0;
  const notCompared: WindowVerification["notCompared"][number][] = [];
  const differences: WindowDifference[] = [];
  for (const organizationId of await store.listOrganizationIds()) {
    const { windows, obstructed } = await store.listWindows(organizationId, month);
    organizations += windows.length + obstructed.length > 0 ? 1 : 0;
    compared += windows.length;
    notCompared.push(...obstructed.map((one) => ({ organizationId, ...one })));
    for (const window of windows) differences.push(...(await compare(store, organizationId, window)));
  }
  return { organizations, compared, notCompared, differences };
}

/** By scope and id. */
type Spends = Map<string, { readonly owner: Omit<WindowOwner, "name">; expected: bigint; found: bigint }>;

async function compare(
  store: VerifyStore,
  organizationId: string,
  window: CountedWindow,
): Promise<WindowDifference[]> {
  const spends: Spends = new Map();
  for await (const rows of readRows(store, organizationId, window)) {
    for (const row of rows) {
      for (const owner of ownersOf(row)) spendOf(spends, owner).expected += row.costMicrocents;
    }
  }
  for (const { scope, id, microcents } of await store.readWindow(organizationId, window)) {
    spendOf(spends, { scope, id }).found += microcents;
  }
  const differing = [...spends.values()].filter(
    ({ owner, expected, found }) => expected !== found && !isComparedElsewhere(owner, window.period),
  );
  return Promise.all(
    differing.map(async ({ owner, expected, found }) => ({
      organizationId,
      kind: "spend_of_window" as const,
      owner: { ...owner, name: await nameOf(store, organizationId, owner) },
      period: window.period,
      window: window.start,
      figure: FIGURE_NAMES.costMicrocents,
      expected,
      found,
    })),
  );
}

async function* readRows(
  store: VerifyStore,
  organizationId: string,
  { days, months }: CountedWindow,
): AsyncGenerator<readonly UsageRow[]> {
  for (const day of days) yield store.readUsageOfDay(organizationId, day);
  for (const month of months) yield (await store.readUsage(organizationId, month)).rows;
}

function ownersOf({ keyId, owners }: UsageRow): Omit<WindowOwner, "name">[] {
  const { userId, groupId } = parseOwnerIds(owners);
  const named = [
    { scope: "user", id: userId },
    { scope: "group", id: groupId },
    { scope: "key", id: keyId },
  ] as const;
  return [...named.filter(({ id }) => id !== null), { scope: "organization", id: null }];
}

/** `verifyUsage` compares a month's spend of keys and organizations. */
function isComparedElsewhere({ scope }: Omit<WindowOwner, "name">, period: WindowPeriod): boolean {
  return period === "month" && (scope === "key" || scope === "organization");
}

function spendOf(spends: Spends, owner: Omit<WindowOwner, "name">) {
  const name = `${owner.scope} ${owner.id ?? ""}`;
  let spend = spends.get(name);
  if (spend === undefined) spends.set(name, (spend = { owner, expected: 0n, found: 0n }));
  return spend;
}

async function nameOf(
  store: VerifyStore,
  organizationId: string,
  { scope, id }: Omit<WindowOwner, "name">,
): Promise<string | null> {
  if (id === null) return (await store.getOrganization(organizationId))?.name ?? null;
  if (scope === "key") return (await store.getKey({ organizationId, keyId: id }))?.name ?? null;
  const owner =
    scope === "user" ? await store.getUser(organizationId, id) : await store.getGroup(organizationId, id);
  return owner?.name ?? null;
}
