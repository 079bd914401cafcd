/** `GET …/limits` of each owner: all limits that apply to it, its own and inherited ones, with their current spend. */
import { dayAt } from "../../../shared/time/calendar.ts";
import { formatWindowStart } from "../../../shared/time/periods.ts";
import { formatLimit } from "../../../data-path/limits/reports/key-status.ts";
import { describeRaise, liveRaises, type Raise } from "../../../shared/settings/raises.ts";
import type { LimitScope } from "../../../shared/stored/decision.ts";
import type { KeyRecord, OrganizationRecord } from "../../../shared/stored/management.ts";
import { formatOwnerIds } from "../../../shared/stored/owner-ids.ts";
import type { GroupRecord, UserRecord } from "../../../shared/stored/owners.ts";
import type { LimitStatus } from "../../../shared/stored/reporting.ts";
import type { Store } from "../../../shared/stored/store.ts";
import { limitList } from "../schemas/limit.ts";
import { requireKey } from "./keys.ts";
import { readNamedOwners } from "./names.ts";
import { type ApiServices, defineOrganizationRoute, type OrganizationCall } from "./route.ts";
import { requireGroup, requireUser } from "./owner-routes.ts";
import { capitalize } from "../../../shared/text/capitalize.ts";

const ORGANIZATION = "/api/organizations/{organization}";

/** Owners whose limits apply, in addition to the organization. */
interface Owners {
  readonly key: KeyRecord | null;
  readonly user: UserRecord | null;
  /** Group that requests count for. */
  readonly group: GroupRecord | null;
}

const NO_OWNERS: Owners = { key: null, user: null, group: null };

/** Returns the API path of an owner with limits. */
export function ownerPath(scope: LimitScope): string {
  return scope === "organization" ? ORGANIZATION : `${ORGANIZATION}/${scope}s/{${scope}}`;
}

interface LimitedOwner {
  readonly scope: LimitScope;
  readonly summary: string;
  /** @throws AdminError 404 */
  readonly find: (call: OrganizationCall, services: ApiServices) => Promise<Owners>;
}

function defineLimitRoute({ scope, summary, find }: LimitedOwner) {
  return defineOrganizationRoute({
    method: "GET",
    path: `${ownerPath(scope)}/limits`,
    operationId: `list${capitalize(scope)}Limits`,
    summary,
    answers: { 200: limitList },
    handleInOrganization: async (call, services) => {
      const owners = await find(call, services);
      return { status: 200, body: await describeLimits(call.organization, owners, services.store) };
    },
  });
}

async function describeLimits(organization: OrganizationRecord, owners: Owners, store: Store) {
  const { key, user, group } = owners;
  const ids = formatOwnerIds({ userId: user?.id ?? null, groupId: group?.id ?? null });
  const [reading, ofUser, ofGroup, namedBy] = await Promise.all([
    store.readLimits(organization.id, { keyId: key?.id ?? null, owners: ids }),
    user === null ? [] : store.countOwned(organization.id, "user", [user.id]),
    group === null ? [] : store.countOwned(organization.id, "group", [group.id]),
    readNamedOwners(store, organization.id, user === null ? [] : [user]),
  ]);
  const { ownGroup } = namedBy(user ?? {});
  const members = ownGroup === null ? nameOf("organization", organization) : nameOf("group", ownGroup);
  const limited = { key, user, group, organization };
  const counts = {
    key: { user_count: null, key_count: null },
    user: { user_count: null, key_count: ofUser[0]?.keys ?? 0 },
    group: { user_count: ofGroup[0]?.users ?? 0, key_count: ofGroup[0]?.keys ?? 0 },
    organization: { user_count: null, key_count: null },
  };
  const data = reading.limits.map((limit) => ({
    ...formatLimit(limit, reading.timeMs),
    owner: { ...nameOwner(limited[limit.scope]), ...counts[limit.scope] },
    member_of: isFromMembers(limit, user) ? members : null,
    window_start: formatWindowStart(limit.period, dayAt(reading.timeMs).name),
    raises: raisesOf(limit, limited[limit.scope]?.raises ?? [], reading.timeMs),
  }));
  return { time: new Date(reading.timeMs).toISOString(), data };
}

/** Reads no limits of an owner that does not exist. */
function nameOwner(owner: { readonly id: string; readonly name: string } | null) {
  return { id: owner?.id ?? "", name: owner?.name ?? "" };
}

function nameOf(scope: LimitScope, { id, name }: { readonly id: string; readonly name: string }) {
  return { scope, id, name };
}

/** Returns whether a limit is inherited; the user's own limits take precedence over those of members. */
function isFromMembers({ scope, period, kind }: LimitStatus, user: UserRecord | null): boolean {
  if (scope !== "user" || user === null) return false;
  return !user.limits.some((own) => own.period === period && own.kind === kind);
}

function raisesOf({ period, kind }: LimitStatus, raises: readonly Raise[], nowMs: number) {
  if (kind !== "cap") return [];
  return liveRaises(raises, nowMs)
    .filter((raise) => raise.period === period)
    .map(describeRaise);
}

/** Returns the owners of a key; the group is that of its user if the key names none. */
async function ownersOfKey(key: KeyRecord, store: Store): Promise<Owners> {
  const ownersOf = await readNamedOwners(store, key.organizationId, [key]);
  const { user, group } = ownersOf(key);
  return { key, user, group };
}

async function ownersOfUser(user: UserRecord, store: Store): Promise<Owners> {
  const ownersOf = await readNamedOwners(store, user.organizationId, [user]);
  return { ...NO_OWNERS, user, group: ownersOf(user).group };
}

export const listUserLimitsRoute = defineLimitRoute({
  scope: "user",
  summary: "List every limit of the user, also its group's and the organization's.",
  find: async (call, services) => ownersOfUser(await requireUser(call, services), services.store),
});

export const limitRoutes = [
  defineLimitRoute({
    scope: "organization",
    summary: "List the organization's limits with their spend.",
    find: () => Promise.resolve(NO_OWNERS),
  }),
  defineLimitRoute({
    scope: "key",
    summary: "List every limit of the key's requests.",
    find: async (call, services) => ownersOfKey(await requireKey(call, services), services.store),
  }),
  listUserLimitsRoute,
  defineLimitRoute({
    scope: "group",
    summary: "List every limit of the group, also the organization's.",
    find: async (call, services) => ({ ...NO_OWNERS, group: await requireGroup(call, services) }),
  }),
];
