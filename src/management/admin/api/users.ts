/** `/api/organizations/{organization}/users`: create, list, show, change, delete. */
import { USER_SETTINGS } from "../../../shared/settings/user.ts";
import { convertSettings, defaultsOf, describeSettings } from "../../../shared/settings/table.ts";
import type { AuditFields } from "../../../shared/stored/audit.ts";
import { MAX_OWNERS } from "../../../shared/stored/owner-kinds.ts";
import type { UserRecord } from "../../../shared/stored/owners.ts";
import { AdminError, refuseMore } from "../admin-error.ts";
import { formatETag } from "../http/etag.ts";
import { ownerDeletionQuery, user, userChange, userCreation, userPage, userQuery } from "../schemas/owner.ts";
import { answerFormatted, changeCurrent } from "./answers.ts";
import { formatReference, type NamedOwners, readNamedOwners } from "./names.ts";
import { answerArrangedOwners, deleteOwner, parseOwnerList, refuseOwner, requireOwners } from "./owners.ts";
import { entriesOf } from "./record-change.ts";
import { type ApiAnswer, type ApiServices, defineOrganizationRoute, type OrganizationCall } from "./route.ts";
import { arrange } from "../directory/arrange.ts";
import { readDirectory } from "../directory/directory.ts";

const PATH = "/api/organizations/{organization}/users";
const ONE = `${PATH}/{user}`;

const create = defineOrganizationRoute({
  method: "POST",
  path: PATH,
  operationId: "createUser",
  summary: "Create a user: a person or service with API keys.",
  body: userCreation,
  answers: { 201: user },
  handleInOrganization: async (call, services) => {
    const { organization, body } = call;
    const changes = convertSettings(USER_SETTINGS, body, null);
    const settings = { ...defaultsOf(USER_SETTINGS), ...changes, name: body.name };
    const result = await services.store.createUser(organization.id, settings, (made) =>
      ENTRIES.created(made, call),
    );
    if (result.outcome === "not_found") throw new AdminError("organization_not_found");
    if (result.outcome === "full") throw refuseMore("user", MAX_OWNERS.user);
    if (result.outcome === "group_missing") throw refuseOwner("group");
    const answer = await answerOne(result.owner, services);
    const location = `/api/organizations/${organization.id}/users/${result.owner.id}`;
    return { ...answer, status: 201, headers: { ...answer.headers, location } };
  },
});

const list = defineOrganizationRoute({
  method: "GET",
  path: PATH,
  operationId: "listUsers",
  summary: "List or search users.",
  query: userQuery,
  answers: { 200: userPage },
  handleInOrganization: async ({ organization, query }, services) => {
    const { store } = services;
    const { id } = organization;
    await requireOwners(store, id, query);
    if (query.sort !== undefined) {
      const { users, timeMs } = await readDirectory(services, organization);
      return answerArrangedOwners(arrange(users, query), timeMs, (records) => formatAll(records, id, store));
    }
    const { filter, page } = parseOwnerList("user", query);
    const { items, next } = await store.listUsers(id, filter, page);
    return answerFormatted({ items: await formatAll(items, id, store), next });
  },
});

const show = defineOrganizationRoute({
  method: "GET",
  path: ONE,
  operationId: "getUser",
  summary: "Show a user.",
  answers: { 200: user },
  handleInOrganization: async (call, services) => answerOne(await requireUser(call, services), services),
});

const change = defineOrganizationRoute({
  method: "PATCH",
  path: ONE,
  operationId: "changeUser",
  summary: "Change the given settings, from the next request.",
  body: userChange,
  usesIfMatch: true,
  answers: { 200: user },
  handleInOrganization: async (call, services) => {
    const changes = convertSettings(USER_SETTINGS, call.body, null);
    const first = await requireUser(call, services);
    return changeCurrent(first, call.ifMatch, async (current, expectedVersion) => {
      if (Object.keys(changes).length === 0) return answerOne(current, services);
      const entry = ENTRIES.updated(current, { ...current, ...changes }, call);
      const { organizationId, id } = current;
      const result = await services.store.changeUser(organizationId, id, changes, expectedVersion, entry);
      if (result.outcome === "version_conflict") return result;
      if (result.outcome === "not_found") throw new AdminError("user_not_found");
      if (result.outcome === "group_missing") throw refuseOwner("group");
      return answerOne(result.after, services);
    });
  },
});

const remove = defineOrganizationRoute({
  method: "DELETE",
  path: ONE,
  operationId: "deleteUser",
  summary: "Permanently delete a user. Its API keys stay; `keys=delete` also deletes them.",
  query: ownerDeletionQuery,
  usesIfMatch: true,
  answers: { 204: null },
  handleInOrganization: async (call, services) => {
    const current = await requireUser(call, services);
    const entry = ENTRIES.deleted(current, call);
    const { organizationId, id } = current;
    return deleteOwner(call, services, current, "user", (keys, expectedVersion) =>
      services.store.deleteUser(organizationId, id, keys, expectedVersion, entry),
    );
  },
});

/** @throws AdminError 404 for a user that does not exist, was deleted, or belongs to another organization. */
export async function requireUser(
  call: Pick<OrganizationCall, "organization" | "params">,
  { store }: Pick<ApiServices, "store">,
): Promise<UserRecord> {
  const record = await store.getUser(call.organization.id, call.params["user"] ?? "");
  if (record === null || record.deletedAtMs !== null) throw new AdminError("user_not_found");
  return record;
}

async function answerOne(record: UserRecord, { store }: ApiServices): Promise<ApiAnswer> {
  const [body = {}] = await formatAll([record], record.organizationId, store);
  return { status: 200, body, headers: { etag: formatETag(record.version) } };
}

async function formatAll(
  records: readonly UserRecord[],
  organizationId: string,
  store: ApiServices["store"],
): Promise<object[]> {
  const ids = records.map(({ id }) => id);
  const [counts, ownersOf] = await Promise.all([
    store.countOwned(organizationId, "user", ids),
    readNamedOwners(store, organizationId, records),
  ]);
  return records.map((record, position) => format(record, ownersOf(record), counts[position]?.keys ?? 0));
}

function format(record: UserRecord, { ownGroup }: NamedOwners, keys: number) {
  return {
    id: record.id,
    organization_id: record.organizationId,
    ...describe(record),
    group_id: ownGroup?.id ?? null,
    group: formatReference(ownGroup),
    external: record.external,
    key_count: keys,
    created_at: new Date(record.createdAtMs).toISOString(),
  };
}

/** Returns the settings with the API's names. */
function describe(record: UserRecord) {
  return describeSettings(USER_SETTINGS, record) satisfies AuditFields;
}

const ENTRIES = entriesOf("user", describe);

export const userRoutes = [create, list, show, change, remove];
