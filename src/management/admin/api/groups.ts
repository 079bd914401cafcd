/** `/api/organizations/{organization}/groups`: create, list, show, change, delete. */
import { USER_GROUP_SETTINGS } from "../../../shared/settings/user-group.ts";
import { convertSettings, defaultsOf, describeSettings } from "../../../shared/settings/table.ts";
import type { AuditFields } from "../../../shared/stored/audit.ts";
import { MAX_OWNERS } from "../../../shared/stored/owner-kinds.ts";
import type { GroupRecord, OwnedCounts } from "../../../shared/stored/owners.ts";
import { AdminError, refuseMore } from "../admin-error.ts";
import { formatETag } from "../http/etag.ts";
import {
  group,
  groupChange,
  groupCreation,
  groupPage,
  groupQuery,
  ownerDeletionQuery,
} from "../schemas/owner.ts";
import { answerFormatted, changeCurrent } from "./answers.ts";
import { answerArrangedOwners, deleteOwner, parseOwnerList } from "./owners.ts";
import { entriesOf } from "./record-change.ts";
import { type ApiAnswer, type ApiServices, defineOrganizationRoute, type OrganizationCall } from "./route.ts";
import { arrange } from "../directory/arrange.ts";
import { readDirectory } from "../directory/directory.ts";

const PATH = "/api/organizations/{organization}/groups";
const ONE = `${PATH}/{group}`;

const create = defineOrganizationRoute({
  method: "POST",
  path: PATH,
  operationId: "createGroup",
  summary: "Create a group of users and API keys.",
  body: groupCreation,
  answers: { 201: group },
  handleInOrganization: async (call, { store }) => {
    const { organization, body } = call;
    const changes = convertSettings(USER_GROUP_SETTINGS, body, null);
    const settings = { ...defaultsOf(USER_GROUP_SETTINGS), ...changes, name: body.name };
    const result = await store.createGroup(organization.id, settings, (made) => ENTRIES.created(made, call));
    if (result.outcome === "full") throw refuseMore("group", MAX_OWNERS.group);
    if (result.outcome !== "created") throw new AdminError("organization_not_found");
    const answer = await answerOne(result.owner, store);
    const location = `/api/organizations/${organization.id}/groups/${result.owner.id}`;
    return { ...answer, status: 201, headers: { ...answer.headers, location } };
  },
});

const list = defineOrganizationRoute({
  method: "GET",
  path: PATH,
  operationId: "listGroups",
  summary: "List or search groups.",
  query: groupQuery,
  answers: { 200: groupPage },
  handleInOrganization: async ({ organization, query }, services) => {
    const { store } = services;
    const { id } = organization;
    if (query.sort !== undefined) {
      const { groups, timeMs } = await readDirectory(services, organization);
      return answerArrangedOwners(arrange(groups, query), timeMs, (records) => formatAll(records, id, store));
    }
    const { filter, page } = parseOwnerList("group", query);
    const { items, next } = await store.listGroups(id, filter, page);
    return answerFormatted({ items: await formatAll(items, id, store), next });
  },
});

const show = defineOrganizationRoute({
  method: "GET",
  path: ONE,
  operationId: "getGroup",
  summary: "Show a group.",
  answers: { 200: group },
  handleInOrganization: async (call, services) =>
    answerOne(await requireGroup(call, services), services.store),
});

const change = defineOrganizationRoute({
  method: "PATCH",
  path: ONE,
  operationId: "changeGroup",
  summary: "Change the given settings, from the next request.",
  body: groupChange,
  usesIfMatch: true,
  answers: { 200: group },
  handleInOrganization: async (call, services) => {
    const changes = convertSettings(USER_GROUP_SETTINGS, call.body, null);
    const first = await requireGroup(call, services);
    return changeCurrent(first, call.ifMatch, async (current, expectedVersion) => {
      if (Object.keys(changes).length === 0) return answerOne(current, services.store);
      const entry = ENTRIES.updated(current, { ...current, ...changes }, call);
      const { organizationId, id } = current;
      const result = await services.store.changeGroup(organizationId, id, changes, expectedVersion, entry);
      if (result.outcome === "version_conflict") return result;
      if (result.outcome !== "changed") throw new AdminError("group_not_found");
      return answerOne(result.after, services.store);
    });
  },
});

const remove = defineOrganizationRoute({
  method: "DELETE",
  path: ONE,
  operationId: "deleteGroup",
  summary: "Permanently delete a group. Its users and API keys stay; `keys=delete` also deletes the keys.",
  query: ownerDeletionQuery,
  usesIfMatch: true,
  answers: { 204: null },
  handleInOrganization: async (call, services) => {
    const current = await requireGroup(call, services);
    const entry = ENTRIES.deleted(current, call);
    const { organizationId, id } = current;
    return deleteOwner(call, services, current, "group", (keys, expectedVersion) =>
      services.store.deleteGroup(organizationId, id, keys, expectedVersion, entry),
    );
  },
});

/** @throws AdminError 404 for a group that does not exist, was deleted, or belongs to another organization. */
export async function requireGroup(
  call: Pick<OrganizationCall, "organization" | "params">,
  { store }: Pick<ApiServices, "store">,
): Promise<GroupRecord> {
  const record = await store.getGroup(call.organization.id, call.params["group"] ?? "");
  if (record === null || record.deletedAtMs !== null) throw new AdminError("group_not_found");
  return record;
}

async function answerOne(record: GroupRecord, store: ApiServices["store"]): Promise<ApiAnswer> {
  const [body = {}] = await formatAll([record], record.organizationId, store);
  return { status: 200, body, headers: { etag: formatETag(record.version) } };
}

async function formatAll(
  records: readonly GroupRecord[],
  organizationId: string,
  store: ApiServices["store"],
): Promise<object[]> {
  const ids = records.map(({ id }) => id);
  const counts = await store.countOwned(organizationId, "group", ids);
  return records.map((record, position) => format(record, counts[position] ?? NOTHING));
}

const NOTHING: OwnedCounts = { keys: 0, users: 0 };

function format(record: GroupRecord, { keys, users }: OwnedCounts) {
  return {
    id: record.id,
    organization_id: record.organizationId,
    ...describe(record),
    user_count: users,
    key_count: keys,
    created_at: new Date(record.createdAtMs).toISOString(),
  };
}

/** Returns the settings with the API's names. */
function describe(record: GroupRecord) {
  return describeSettings(USER_GROUP_SETTINGS, record) satisfies AuditFields;
}

const ENTRIES = entriesOf("group", describe);

export const groupRoutes = [create, list, show, change, remove];
