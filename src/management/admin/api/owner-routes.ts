/** `/api/organizations/{organization}/users` and `…/groups`: create, list, show, change, delete. */
import type { z } from "zod";
import { convertSettings, defaultsOf, describeSettings } from "../../../shared/settings/table.ts";
import { USER_GROUP_SETTINGS, type UserGroupSettings } from "../../../shared/settings/user-group.ts";
import { USER_SETTINGS, type UserSettings } from "../../../shared/settings/user.ts";
import type { AuditFields } from "../../../shared/stored/audit.ts";
import { MAX_OWNERS, type OwnerKind } from "../../../shared/stored/owner-kinds.ts";
import type {
  GroupRecord,
  OwnedCounts,
  OwnerOperations,
  OwnerRecord,
  UserRecord,
} from "../../../shared/stored/owners.ts";
import type { Store } from "../../../shared/stored/store.ts";
import { capitalize } from "../../../shared/text/capitalize.ts";
import { AdminError, refuseMore } from "../admin-error.ts";
import { arrange } from "../directory/arrange.ts";
import { type Directory, readDirectory } from "../directory/directory.ts";
import type { Listed } from "../directory/list-owners.ts";
import { formatETag } from "../http/etag.ts";
import * as schemas from "../schemas/owner.ts";
import { answerFormatted, changeCurrent } from "./answers.ts";
import { formatReference, readNamedOwners } from "./names.ts";
import { answerArrangedOwners, deleteOwner, parseOwnerList, refuseOwner, requireOwners } from "./owners.ts";
import { entriesOf } from "./record-change.ts";
import { type ApiAnswer, type ApiServices, defineOrganizationRoute, type OrganizationCall } from "./route.ts";

type Named = OwnerRecord & { readonly name: string };

/** Operations on users, or on groups, and what the API shows of them. */
interface Owners<Settings, Item extends Named> {
  readonly kind: OwnerKind;
  readonly operationsOf: (store: Store) => OwnerOperations<Settings, Item>;
  /** Returns the settings with the API's names. */
  readonly describe: (record: Item) => AuditFields;
  readonly entries: ReturnType<typeof entriesOf<Item>>;
  readonly listIn: (directory: Directory) => readonly Listed<Item>[];
  /** Reads fields in addition to settings and keys. */
  readonly readMore: (
    store: Store,
    organizationId: string,
    records: readonly Item[],
  ) => Promise<(record: Item, counts: OwnedCounts) => object>;
}

/** Routes of users, or of groups. */
interface OwnerRoutes<Kind, Settings, Item extends Named, Creation, Change> extends Owners<Settings, Item> {
  readonly kind: Kind & OwnerKind;
  readonly created: string;
  readonly deleted: string;
  readonly creation: z.ZodType<Creation>;
  readonly changes: z.ZodType<Change>;
  readonly query: z.ZodType<Parameters<typeof arrange>[1]>;
  readonly create: (wanted: Creation) => Settings;
  readonly change: (wanted: Change) => Partial<Settings>;
}

function defineListRoutes<Kind extends OwnerKind, Settings, Item extends Named, Creation, Change, One, Page>(
  owners: OwnerRoutes<Kind, Settings, Item, Creation, Change>,
  one: z.ZodType<One>,
  listed: z.ZodType<Page>,
) {
  const { kind, operationsOf } = owners;
  const path = `/api/organizations/{organization}/${kind}s` as const;
  const create = defineOrganizationRoute({
    method: "POST",
    path,
    operationId: `create${capitalize(kind)}`,
    summary: owners.created,
    body: owners.creation,
    answers: { 201: one },
    handleInOrganization: async (call, services) => {
      const { id } = call.organization;
      const result = await operationsOf(services.store).create(id, owners.create(call.body), (made) =>
        owners.entries.created(made, call),
      );
      if (result.outcome === "not_found") throw new AdminError("organization_not_found");
      if (result.outcome === "full") throw refuseMore(kind, MAX_OWNERS[kind]);
      if (result.outcome === "group_missing") throw refuseOwner("group");
      const answer = await answerOne(owners, result.owner, services);
      const location = `/api/organizations/${id}/${kind}s/${result.owner.id}`;
      return { ...answer, status: 201, headers: { ...answer.headers, location } };
    },
  });
  const list = defineOrganizationRoute({
    method: "GET",
    path,
    operationId: `list${capitalize(kind)}s`,
    summary: `List or search ${kind}s.`,
    query: owners.query,
    answers: { 200: listed },
    handleInOrganization: async ({ organization, query }, services) => {
      const { store } = services;
      const { id } = organization;
      await requireOwners(store, id, query);
      const format = (records: readonly Item[]) => formatAll(owners, records, id, store);
      if (query.sort !== undefined) {
        const directory = await readDirectory(services, organization);
        return answerArrangedOwners(arrange(owners.listIn(directory), query), directory.timeMs, format);
      }
      const { filter, page } = parseOwnerList(kind, query);
      const { items, next } = await operationsOf(store).list(id, filter, page);
      return answerFormatted({ items: await format(items), next });
    },
  });
  return [create, list] as const;
}

function defineOneRoutes<Kind extends OwnerKind, Settings, Item extends Named, Creation, Change, One>(
  owners: OwnerRoutes<Kind, Settings, Item, Creation, Change>,
  one: z.ZodType<One>,
) {
  const { kind, operationsOf, entries } = owners;
  const path = `/api/organizations/{organization}/${kind}s/{${kind}}` as const;
  const requireOne = createRequire(owners);
  const show = defineOrganizationRoute({
    method: "GET",
    path,
    operationId: `get${capitalize(kind)}`,
    summary: `Show a ${kind}.`,
    answers: { 200: one },
    handleInOrganization: async (call, services) =>
      answerOne(owners, await requireOne(call, services), services),
  });
  const change = defineOrganizationRoute({
    method: "PATCH",
    path,
    operationId: `change${capitalize(kind)}`,
    summary: "Change the given settings, from the next request.",
    body: owners.changes,
    usesIfMatch: true,
    answers: { 200: one },
    handleInOrganization: (call, services) => changeOne(owners, call, services, owners.change(call.body)),
  });
  const remove = defineOrganizationRoute({
    method: "DELETE",
    path,
    operationId: `delete${capitalize(kind)}`,
    summary: owners.deleted,
    query: schemas.ownerDeletionQuery,
    usesIfMatch: true,
    answers: { 204: null },
    handleInOrganization: async (call, services) => {
      const current = await requireOne(call, services);
      const operations = operationsOf(services.store);
      return deleteOwner(call, services, current, {
        kind,
        operations,
        entry: entries.deleted(current, call),
      });
    },
  });
  return [show, change, remove] as const;
}

/**
 * Returns a function that reads a user or group. It throws 404 if the user or group does not exist, was deleted, or
 * belongs to another organization.
 */
function createRequire<Settings, Item extends Named>({ kind, operationsOf }: Owners<Settings, Item>) {
  return async (
    { organization, params }: Pick<OrganizationCall, "organization" | "params">,
    { store }: Pick<ApiServices, "store">,
  ): Promise<Item> => {
    const record = await operationsOf(store).get(organization.id, params[kind] ?? "");
    if (record === null || record.deletedAtMs !== null) throw new AdminError(`${kind}_not_found`);
    return record;
  };
}

async function changeOne<Settings, Item extends Named>(
  owners: Owners<Settings, Item>,
  call: OrganizationCall,
  services: ApiServices,
  changes: Partial<Settings>,
): Promise<ApiAnswer> {
  const { kind, operationsOf, entries } = owners;
  const first = await createRequire(owners)(call, services);
  return changeCurrent(first, call.ifMatch, async (current, expectedVersion) => {
    if (Object.keys(changes).length === 0) return answerOne(owners, current, services);
    const entry = entries.updated(current, { ...current, ...changes }, call);
    const { organizationId, id } = current;
    const operations = operationsOf(services.store);
    const result = await operations.change(organizationId, id, changes, expectedVersion, entry);
    if (result.outcome === "version_conflict") return result;
    if (result.outcome === "not_found") throw new AdminError(`${kind}_not_found`);
    if (result.outcome === "group_missing") throw refuseOwner("group");
    return answerOne(owners, result.after, services);
  });
}

async function answerOne<Settings, Item extends Named>(
  owners: Owners<Settings, Item>,
  record: Item,
  { store }: ApiServices,
): Promise<ApiAnswer> {
  const [body = {}] = await formatAll(owners, [record], record.organizationId, store);
  return { status: 200, body, headers: { etag: formatETag(record.version) } };
}

async function formatAll<Settings, Item extends Named>(
  { kind, describe, readMore }: Owners<Settings, Item>,
  records: readonly Item[],
  organizationId: string,
  store: Store,
): Promise<object[]> {
  const ids = records.map(({ id }) => id);
  const [counts, moreOf] = await Promise.all([
    store.countOwned(organizationId, kind, ids),
    readMore(store, organizationId, records),
  ]);
  return records.map((record, position) => {
    const owned = counts[position] ?? { keys: 0, users: 0 };
    return {
      id: record.id,
      organization_id: record.organizationId,
      ...describe(record),
      ...moreOf(record, owned),
      key_count: owned.keys,
      created_at: new Date(record.createdAtMs).toISOString(),
    };
  });
}

const describeUser = (record: UserRecord) => describeSettings(USER_SETTINGS, record) satisfies AuditFields;

const USERS = {
  kind: "user",
  created: "Create a user: a person or service with API keys.",
  deleted: "Permanently delete a user. Its API keys stay; `keys=delete` also deletes them.",
  creation: schemas.userCreation,
  changes: schemas.userChange,
  query: schemas.userQuery,
  operationsOf: (store: Store): OwnerOperations<UserSettings, UserRecord> => ({
    create: store.createUser,
    get: store.getUser,
    list: store.listUsers,
    change: store.changeUser,
    delete: store.deleteUser,
  }),
  create: (wanted: z.output<typeof schemas.userCreation>): UserSettings => ({
    ...defaultsOf(USER_SETTINGS),
    ...convertSettings(USER_SETTINGS, wanted, null),
    name: wanted.name,
  }),
  change: (wanted: z.output<typeof schemas.userChange>) => convertSettings(USER_SETTINGS, wanted, null),
  describe: describeUser,
  entries: entriesOf("user", describeUser),
  listIn: ({ users }: Directory) => users,
  readMore: async (store: Store, organizationId: string, records: readonly UserRecord[]) => {
    const ownersOf = await readNamedOwners(store, organizationId, records);
    return (record: UserRecord) => {
      const group = formatReference(ownersOf(record).ownGroup);
      return { group_id: group?.id ?? null, group, external: record.external };
    };
  },
} as const;

const describeGroup = (record: GroupRecord) =>
  describeSettings(USER_GROUP_SETTINGS, record) satisfies AuditFields;

const GROUPS = {
  kind: "group",
  created: "Create a group of users and API keys.",
  deleted: "Permanently delete a group. Its users and API keys stay; `keys=delete` also deletes the keys.",
  creation: schemas.groupCreation,
  changes: schemas.groupChange,
  query: schemas.groupQuery,
  operationsOf: (store: Store): OwnerOperations<UserGroupSettings, GroupRecord> => ({
    create: store.createGroup,
    get: store.getGroup,
    list: store.listGroups,
    change: store.changeGroup,
    delete: store.deleteGroup,
  }),
  create: (wanted: z.output<typeof schemas.groupCreation>): UserGroupSettings => ({
    ...defaultsOf(USER_GROUP_SETTINGS),
    ...convertSettings(USER_GROUP_SETTINGS, wanted, null),
    name: wanted.name,
  }),
  change: (wanted: z.output<typeof schemas.groupChange>) =>
    convertSettings(USER_GROUP_SETTINGS, wanted, null),
  describe: describeGroup,
  entries: entriesOf("group", describeGroup),
  listIn: ({ groups }: Directory) => groups,
  readMore:
    async () =>
    (_: GroupRecord, { users }: OwnedCounts) => ({ user_count: users }),
} as const;

export const requireUser = createRequire(USERS);
export const requireGroup = createRequire(GROUPS);

export const userRoutes = [
  ...defineListRoutes(USERS, schemas.user, schemas.userPage),
  ...defineOneRoutes(USERS, schemas.user),
];
export const groupRoutes = [
  ...defineListRoutes(GROUPS, schemas.group, schemas.groupPage),
  ...defineOneRoutes(GROUPS, schemas.group),
];
