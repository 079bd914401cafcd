/** Summary of a past week or month by email: its spend, the window before, and what spent most. */
import type { AlertMessage } from "../../shared/stored/alerts.ts";
import type { OrganizationRecord } from "../../shared/stored/management.ts";
import type { Store } from "../../shared/stored/store.ts";
import { dayAt } from "../../shared/time/calendar.ts";
import { formatWindowEnd, formatWindowStart } from "../../shared/time/periods.ts";
import { addDays, daysIn } from "../../shared/time/day-range.ts";
import { nameLimit } from "../../shared/settings/limit-words.ts";
import { wholeCents } from "../../shared/money/money.ts";
import { cleanName } from "./alert-names.ts";
import { formatAmount } from "./alert-words.ts";
import {
  findLargest,
  type OwnerSpend,
  readOwnerName,
  readSpendByOwner,
  type SpendReader,
} from "./spend-by-owner.ts";

type SummaryPeriod = "week" | "month";

export interface PastWindow {
  /** First day. */
  readonly start: string;
  readonly days: readonly string[];
  readonly endMs: number;
}

/** Returns the last window that is over at a time. */
export function windowBefore(period: SummaryPeriod, timeMs: number): PastWindow {
  const current = formatWindowStart(period, dayAt(timeMs).name) ?? "";
  const to = addDays(current, -1);
  const start = formatWindowStart(period, to) ?? "";
  return { start, days: daysIn({ from: start, to }), endMs: Date.parse(current) };
}

const HEADINGS = { organization: "", key: "API keys", user: "Users", group: "Groups" } as const;

/** Reads the lines of a message that is a summary; none for other messages. */
export async function readSummary(
  store: SpendReader & Pick<Store, "readLimits">,
  { alerts: [alert] }: AlertMessage,
  organization: OrganizationRecord,
): Promise<readonly string[]> {
  const { kind, period, windowStart, currency } = alert;
  if (kind !== "summary" || windowStart === null || (period !== "week" && period !== "month")) return [];
  const endMs = Date.parse(formatWindowEnd(period, windowStart) ?? windowStart);
  const all = await readSpendByOwner(store, organization.id, windowBefore(period, endMs).days);
  const owners = findLargest(all);
  const lines = await Promise.all(
    (["key", "user", "group"] as const).map(async (scope) => {
      const own = owners.filter((owner) => owner.scope === scope && owner.microcents > 0n);
      const named = await Promise.all(
        own.map((owner) => describeOwner(store, organization, owner, currency)),
      );
      return named.length === 0 ? [] : [`${HEADINGS[scope]}: ${named.join(", ")}.`];
    }),
  );
  return [...lines.flat(), ...(await describeLimits(store, organization))];
}

/** Returns "ci $12.00". */
async function describeOwner(
  store: SpendReader,
  { id: organizationId }: OrganizationRecord,
  owner: OwnerSpend,
  currency: string,
): Promise<string> {
  const name = (await readOwnerName(store, organizationId, owner)) ?? `deleted ${owner.scope}`;
  return `${cleanName(name)} ${formatAmount(wholeCents(owner.microcents), currency)}`;
}

/** Describes the current windows of the organization's limits. */
async function describeLimits(
  store: Pick<Store, "readLimits">,
  { id, currency }: OrganizationRecord,
): Promise<readonly string[]> {
  const { limits } = await store.readLimits(id, { keyId: null, owners: "" });
  return limits.map((limit) => {
    const [spent, amount] = [wholeCents(limit.spentMicrocents), limit.cents];
    const percent = amount === 0 ? 100 : Math.floor((spent / amount) * 100);
    return `Now: ${percent}% of the ${nameLimit(limit)} of ${formatAmount(amount, currency)} is spent.`;
  });
}
