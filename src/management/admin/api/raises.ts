/** `POST` and `DELETE …/raises` of each owner: temporary increases of a cap. */
import { limitsOfMember } from "../../../shared/settings/limit-settings.ts";
import type { Limit } from "../../../shared/settings/limits.ts";
import {
  describeRaise,
  liveRaises,
  MAX_RAISES,
  type Raise,
  raisablePeriods,
} from "../../../shared/settings/raises.ts";
import { capitalize } from "../../../shared/text/capitalize.ts";
import { createId } from "../../../data-path/store/ids.ts";
import type { AuditInput } from "../../../shared/stored/audit.ts";
import type { LimitScope } from "../../../shared/stored/decision.ts";
import type { KeyRecord, OrganizationRecord } from "../../../shared/stored/management.ts";
import type { GroupRecord, UserRecord } from "../../../shared/stored/owners.ts";
import type { Store } from "../../../shared/stored/store.ts";
import { AdminError, invalidField } from "../admin-error.ts";
import { raise, raiseCreation, type RaiseCreation } from "../schemas/limit.ts";
import { changeCurrent } from "./answers.ts";
import { referenceOf, requireKey } from "./keys.ts";
import { ownerPath } from "./limits.ts";
import { readNamedOwners } from "./names.ts";
import { type Change, describeActor, describeChange } from "./record-change.ts";
import { type ApiServices, defineOrganizationRoute, type OrganizationCall } from "./route.ts";
import { requireGroup, requireUser } from "./owner-routes.ts";

type Raised = Pick<KeyRecord, "id" | "name" | "version" | "raises">;

interface RaisedChange {
  readonly raises: readonly Raise[];
  readonly expectedVersion: number;
  readonly entry: AuditInput;
}

type Outcome<Item> =
  | { readonly outcome: "changed" }
  | { readonly outcome: "version_conflict"; readonly current: Item }
  | { readonly outcome: "not_found" | "group_missing" | "name_taken" | "currency_locked" };

/** Owner whose caps can be increased. */
interface RaisedOwner<Item extends Raised> {
  readonly type: LimitScope;
  /** @throws AdminError 404 */
  find(call: OrganizationCall, services: ApiServices): Promise<Item>;
  /** Returns all limits that apply to it, including inherited ones. */
  listLimits(item: Item, organization: OrganizationRecord, store: Store): Promise<readonly Limit[]>;
  change(item: Item, change: RaisedChange, store: Store): Promise<Outcome<Item>>;
}

function defineRaiseRoutes<Item extends Raised>(owner: RaisedOwner<Item>) {
  const { type } = owner;
  const path = ownerPath(type);
  const name = capitalize(type);
  const create = defineOrganizationRoute({
    method: "POST",
    path: `${path}/raises`,
    operationId: `create${name}Raise`,
    summary: `Increase a cap of the ${type} until a given time.`,
    description: `At most ${MAX_RAISES} are active at the same time.`,
    body: raiseCreation,
    answers: { 201: raise },
    handleInOrganization: async (call, services) => {
      const { store } = services;
      const nowMs = await store.timeMs();
      const made = createRaise(call.body, call, nowMs);
      const after = describeRaise(made);
      await changeRaises(owner, call, services, async (current) => {
        requireCap(call.body, await owner.listLimits(current, call.organization, store), type);
        const live = liveRaises(current.raises, nowMs);
        if (live.length >= MAX_RAISES) throw new AdminError("too_many_raises");
        return { raises: [...live, made], action: "raise.created", before: null, after };
      });
      return { status: 201, body: after };
    },
  });
  const remove = defineOrganizationRoute({
    method: "DELETE",
    path: `${path}/raises/{raise}`,
    operationId: `delete${name}Raise`,
    summary: `Remove a temporary increase of the ${type} before it ends.`,
    answers: { 204: null },
    handleInOrganization: async (call, services) => {
      const nowMs = await services.store.timeMs();
      await changeRaises(owner, call, services, async (current) => {
        const live = liveRaises(current.raises, nowMs);
        const removed = live.find(({ id }) => id === call.params["raise"]);
        if (removed === undefined) throw new AdminError("raise_not_found");
        const raises = live.filter((other) => other !== removed);
        return { raises, action: "raise.deleted", before: describeRaise(removed), after: null };
      });
      return { status: 204 };
    },
  });
  return [create, remove];
}

interface RaisesPlan extends Pick<Change, "action" | "before" | "after"> {
  readonly raises: readonly Raise[];
}

/** Applies a plan; plans again if others were faster. @throws AdminError 404, 409 and errors of the plan. */
async function changeRaises<Item extends Raised>(
  owner: RaisedOwner<Item>,
  call: OrganizationCall,
  services: ApiServices,
  plan: (current: Item) => Promise<RaisesPlan>,
): Promise<void> {
  await changeCurrent(await owner.find(call, services), null, async (current, expectedVersion) => {
    const { raises, ...change } = await plan(current);
    const target = { type: owner.type, id: current.id, name: current.name };
    const entry = describeChange({ ...change, target }, call);
    const result = await owner.change(current, { raises, expectedVersion, entry }, services.store);
    if (result.outcome === "version_conflict" || result.outcome === "changed") return result;
    throw new AdminError(`${owner.type}_not_found`);
  });
}

/** @throws AdminError 400 if it would end before it starts. */
function createRaise(wanted: RaiseCreation, call: Pick<OrganizationCall, "principal">, nowMs: number): Raise {
  const { period, add_cents: cents, expires_at: expiresAt, reason } = wanted;
  const expiresAtMs = Date.parse(expiresAt);
  if (expiresAtMs <= nowMs) {
    throw invalidField("expires_at", `expected a time in the future, found ${JSON.stringify(expiresAt)}`);
  }
  const id = createId("raise", nowMs);
  const { type, id: actorId, name } = describeActor(call);
  return { id, period, cents, expiresAtMs, reason, createdBy: { type, id: actorId, name } };
}

/** @throws AdminError 400 if there is no cap to increase. */
function requireCap({ period }: RaiseCreation, limits: readonly Limit[], type: string): void {
  const periods = raisablePeriods(limits);
  if (periods.includes(period)) return;
  const expected =
    periods.length === 0
      ? "it has no cap. Set one first"
      : `expected the period of one of its caps: ${periods.join(", ")}`;
  throw invalidField("period", `the ${type} has no cap of this period, ${expected}`);
}

const organizations: RaisedOwner<OrganizationRecord> = {
  type: "organization",
  find: async ({ organization }) => organization,
  listLimits: async ({ limits }) => limits,
  change: ({ id }, { raises, expectedVersion, entry }, store) =>
    store.changeOrganization(id, { raises }, expectedVersion, entry),
};

const keys: RaisedOwner<KeyRecord> = {
  type: "key",
  find: requireKey,
  listLimits: async ({ limits }) => limits,
  change: (key, { raises, expectedVersion, entry }, store) =>
    store.changeKey(referenceOf(key), { raises }, expectedVersion, entry),
};

const users: RaisedOwner<UserRecord> = {
  type: "user",
  find: requireUser,
  listLimits: async (user, organization, store) => {
    const ownersOf = await readNamedOwners(store, organization.id, [user]);
    return limitsOfMember(user, ownersOf(user).ownGroup ?? organization);
  },
  change: ({ organizationId, id }, { raises, expectedVersion, entry }, store) =>
    store.changeUser(organizationId, id, { raises }, expectedVersion, entry),
};

const groups: RaisedOwner<GroupRecord> = {
  type: "group",
  find: requireGroup,
  listLimits: async ({ limits }) => limits,
  change: ({ organizationId, id }, { raises, expectedVersion, entry }, store) =>
    store.changeGroup(organizationId, id, { raises }, expectedVersion, entry),
};

export const raiseRoutes = [
  ...defineRaiseRoutes(organizations),
  ...defineRaiseRoutes(keys),
  ...defineRaiseRoutes(users),
  ...defineRaiseRoutes(groups),
];
