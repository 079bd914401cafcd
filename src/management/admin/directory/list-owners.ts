/** Rows of the lists of keys, users, groups and organizations: state, spend, last use, and the tightest limit. */
import { formatLimit, isReachedCap } from "../../../data-path/limits/reports/key-status.ts";
import type { LimitScope } from "../../../shared/stored/decision.ts";
import type { KeyRecord, OrganizationRecord } from "../../../shared/stored/management.ts";
import type { GroupRecord, UserRecord } from "../../../shared/stored/owners.ts";
import type { LimitStatus } from "../../../shared/stored/reporting.ts";
import { limitsOfMember } from "../../../shared/settings/limit-settings.ts";
import type { Limit, LimitPeriod } from "../../../shared/settings/limits.ts";
import { MICROCENTS_PER_CENT } from "../../../shared/money/money.ts";
import { type Raise, raisedCap } from "../../../shared/settings/raises.ts";
import { keyStateOf, organizationStateOf } from "../../../shared/settings/state.ts";

export interface Records {
  readonly organization: OrganizationRecord;
  readonly keys: readonly KeyRecord[];
  readonly users: ReadonlyMap<string, UserRecord>;
  readonly groups: ReadonlyMap<string, GroupRecord>;
}

export interface Figures {
  /** By Redis's clock. */
  readonly timeMs: number;
  /** Spend in the current windows in microcents, by period and by "key:<id>", "user:<id>", "group:<id>" or "organization". */
  readonly spend: ReadonlyMap<LimitPeriod, ReadonlyMap<string, bigint>>;
  /** Time of last use by key id. */
  readonly lastUses: ReadonlyMap<string, number>;
}

/** A row of a list. */
export interface Listed<Item> {
  readonly record: Item;
  /** State; `cap_reached` also if a cap of its user, group or organization is. */
  readonly state: string;
  readonly userId: string | null;
  /** Group that its spend counts for. */
  readonly groupId: string | null;
  /** Searched text in lower case. */
  readonly text: string;
  readonly currency: string;
  /** Spend of this month. */
  readonly spentMicrocents: bigint;
  /** Null: never. */
  readonly lastUsedMs: number | null;
  /** Null: no limit. */
  readonly tightest: ReturnType<typeof formatLimit> | null;
  /** Sort key, 0 or more. */
  readonly tightness: number;
}

interface Limited {
  readonly scope: LimitScope;
  readonly id: string;
  readonly limits: readonly Limit[];
  readonly raises: readonly Raise[];
}

/** Lists keys. A key meets its own limits, its user's, its group's and the organization's. */
export function listKeys(records: Records, figures: Figures): Listed<KeyRecord>[] {
  const ofOrganization = statusOf({ ...records.organization, scope: "organization" }, figures);
  return records.keys.map((record) => {
    const user = records.users.get(record.userId ?? "") ?? null;
    const group = records.groups.get(record.groupId ?? user?.groupId ?? "") ?? null;
    const limits = [
      ...statusOf({ ...record, scope: "key" }, figures),
      ...(user === null ? [] : ofUser(user, records, figures)),
      ...(group === null ? [] : statusOf({ ...group, scope: "group" }, figures)),
    ];
    return {
      record,
      state: keyStateOf(record, { limits: [...limits, ...ofOrganization], nowMs: figures.timeMs }),
      userId: user?.id ?? null,
      groupId: group?.id ?? null,
      text: textOf(record.name, record.display, record.note),
      currency: records.organization.currency,
      spentMicrocents: spentOf(figures, "month", `key:${record.id}`),
      lastUsedMs: figures.lastUses.get(record.id) ?? null,
      ...tightestOf(limits, figures.timeMs),
    };
  });
}

/** Lists users. A user meets its own limits, its group's and the organization's. */
export function listUsers(records: Records, figures: Figures): Listed<UserRecord>[] {
  const lastUses = latestBy(records, figures, ({ userId }) => userId);
  const ofOrganization = statusOf({ ...records.organization, scope: "organization" }, figures);
  return [...records.users.values()].map((record) => {
    const group = records.groups.get(record.groupId ?? "") ?? null;
    const limits = [
      ...ofUser(record, records, figures),
      ...(group === null ? [] : statusOf({ ...group, scope: "group" }, figures)),
    ];
    return {
      record,
      state: record.disabled ? "disabled" : stateOf([...limits, ...ofOrganization]),
      userId: record.id,
      groupId: group?.id ?? null,
      text: textOf(record.name, record.email, record.note),
      currency: records.organization.currency,
      spentMicrocents: spentOf(figures, "month", `user:${record.id}`),
      lastUsedMs: lastUses.get(record.id) ?? null,
      ...tightestOf(limits, figures.timeMs),
    };
  });
}

export function listGroups(records: Records, figures: Figures): Listed<GroupRecord>[] {
  const groupOf = ({ groupId, userId }: KeyRecord) =>
    groupId ?? records.users.get(userId ?? "")?.groupId ?? null;
  const lastUses = latestBy(records, figures, groupOf);
  const ofOrganization = statusOf({ ...records.organization, scope: "organization" }, figures);
  return [...records.groups.values()].map((record) => {
    const limits = statusOf({ ...record, scope: "group" }, figures);
    return {
      record,
      state: stateOf([...limits, ...ofOrganization]),
      userId: null,
      groupId: record.id,
      text: textOf(record.name, record.note),
      currency: records.organization.currency,
      spentMicrocents: spentOf(figures, "month", `group:${record.id}`),
      lastUsedMs: lastUses.get(record.id) ?? null,
      ...tightestOf(limits, figures.timeMs),
    };
  });
}

/** An organization with the spend of this month and its own limits. */
export interface SpentOrganization {
  readonly record: OrganizationRecord;
  readonly spentMicrocents: bigint;
  readonly limits: readonly LimitStatus[];
}

export function listOrganization(
  { record, spentMicrocents, limits }: SpentOrganization,
  timeMs: number,
): Listed<OrganizationRecord> {
  return {
    record,
    state: organizationStateOf(record, limits),
    userId: null,
    groupId: null,
    text: textOf(record.name),
    currency: record.currency,
    spentMicrocents,
    lastUsedMs: null,
    ...tightestOf(limits, timeMs),
  };
}

/** Returns a user's own limits, and the member limits of its group or, without one, of the organization. */
export function memberLimitsOf(
  user: UserRecord,
  { organization, groups }: Pick<Records, "organization" | "groups">,
): readonly Limit[] {
  const all = limitsOfMember(user, groups.get(user.groupId ?? "") ?? organization);
  // A user's own limit of a period and kind replaces the member limit, which comes later.
  return all.filter(
    ({ period, kind }, place) =>
      all.findIndex((first) => first.period === period && first.kind === kind) === place,
  );
}

function ofUser(user: UserRecord, records: Records, figures: Figures): LimitStatus[] {
  return statusOf({ ...user, scope: "user", limits: memberLimitsOf(user, records) }, figures);
}

function statusOf({ scope, id, limits, raises }: Limited, figures: Figures): LimitStatus[] {
  return limits.map(({ period, kind, cents: set }) => {
    const cents = kind === "cap" ? raisedCap(set, raises, { period, nowMs: figures.timeMs }) : set;
    const subject = scope === "organization" ? scope : `${scope}:${id}`;
    const spentMicrocents = spentOf(figures, period, subject);
    return { scope, period, kind, cents, raisedCents: cents - set, spentMicrocents };
  });
}

function spentOf({ spend }: Figures, period: LimitPeriod, subject: string): bigint {
  return spend.get(period)?.get(subject) ?? 0n;
}

function stateOf(limits: readonly LimitStatus[]): string {
  return limits.some(isReachedCap) ? "cap_reached" : "active";
}

/** Returns the tightest limit: a reached cap, which blocks, precedes a budget that is exceeded by more. */
function tightestOf(limits: readonly LimitStatus[], timeMs: number) {
  let tightest: LimitStatus | null = null;
  let tightness = -1;
  for (const limit of limits) {
    const own = tightnessOf(limit);
    if (own > tightness) [tightest, tightness] = [limit, own];
  }
  return { tightest: tightest === null ? null : formatLimit(tightest, timeMs), tightness };
}

/** Returns the sort key: above 1e9 for a reached cap. A limit of 0 is used up. */
function tightnessOf(limit: LimitStatus): number {
  const share = limit.cents === 0 ? 1 : Number(limit.spentMicrocents) / (limit.cents * MICROCENTS_PER_CENT);
  return isReachedCap(limit) ? REACHED + share : share;
}
const REACHED = 1e9;

function latestBy(
  { keys }: Records,
  { lastUses }: Figures,
  ownerOf: (key: KeyRecord) => string | null,
): ReadonlyMap<string, number> {
  const latest = new Map<string, number>();
  for (const key of keys) {
    const owner = ownerOf(key);
    const at = lastUses.get(key.id);
    if (owner !== null && at !== undefined && at > (latest.get(owner) ?? 0)) latest.set(owner, at);
  }
  return latest;
}

function textOf(...texts: readonly (string | null)[]): string {
  return texts.join("\n").toLowerCase();
}
