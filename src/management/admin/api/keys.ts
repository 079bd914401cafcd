/** `/api/organizations/{organization}/keys`: create, list, show, change, delete. */
import { requestsPerMinuteOf } from "../../../shared/settings/key.ts";
import { createKey, displayKey, hashKey } from "../../../data-path/auth/key-format.ts";
import { bucketCapacity } from "../../../data-path/limits/bucket-capacity.ts";
import { monthAt } from "../../../shared/time/calendar.ts";
import { formatOwnerIds } from "../../../shared/stored/owner-ids.ts";
import type { ChangeResult, KeyRecord, OrganizationRecord } from "../../../shared/stored/management.ts";
import { AdminError, invalidField } from "../admin-error.ts";
import { expectVersion, formatETag } from "../http/etag.ts";
import { arrange } from "../directory/arrange.ts";
import { readDirectory } from "../directory/directory.ts";
import { PLACE } from "../schemas/arranged.ts";
import { AFTER_EXPECTATION, type PageQuery } from "../schemas/page.ts";
import {
  key,
  keyChange,
  keyCreation,
  keyPage,
  keyQuery,
  type KeyQuery,
  keyWithSecret,
} from "../schemas/key.ts";
import { answerArranged, answerList, changeCurrent, parsePage } from "./answers.ts";
import { formatKey, KEY_ENTRIES, type KeyFigures } from "./format-key.ts";
import {
  convertKeyChange,
  createKeySettings,
  requireStrictCaps,
  requireUsableSettings,
} from "./key-settings.ts";
import { type NamedOwners, readNamedOwners } from "./names.ts";
import { requireOwners, withOwners } from "./owners.ts";
import { type ApiAnswer, type ApiServices, defineOrganizationRoute, type OrganizationCall } from "./route.ts";

const PATH = "/api/organizations/{organization}/keys";
const ONE = `${PATH}/{key}`;

const create = defineOrganizationRoute({
  method: "POST",
  path: PATH,
  operationId: "createKey",
  summary: "Create an API key. `key` in the response is shown only once.",
  body: keyCreation,
  answers: { 201: keyWithSecret },
  handleInOrganization: async (call, services) => {
    const { organization, body } = call;
    const { store } = services;
    requireUsableSettings(body, services.catalog(), await store.timeMs());
    requireStrictCaps(body, null, organization);
    const settings = createKeySettings(body, organization.keyDefaults);
    // Read first: once the secret exists, nothing may prevent its response.
    const ownersOf = await readNamedOwners(store, organization.id, [settings]);
    const secret = createKey();
    const hashed = { hash: hashKey(secret), display: displayKey(secret) };
    const record = await withOwners(
      store.createKey(organization.id, settings, hashed, (made) => KEY_ENTRIES.created(made, call)),
    );
    if (record === null) throw new AdminError("organization_not_found");
    const figures = newFigures(record, record.createdAtMs, ownersOf(settings));
    return {
      status: 201,
      body: { ...formatKey(record, figures), key: secret },
      headers: {
        etag: formatETag(record.version),
        location: `/api/organizations/${organization.id}/keys/${record.id}`,
      },
    };
  },
});

const list = defineOrganizationRoute({
  method: "GET",
  path: PATH,
  operationId: "listKeys",
  summary: "List API keys with this month's spend, in the order of their creation.",
  query: keyQuery,
  answers: { 200: keyPage },
  handleInOrganization: async ({ organization, query }, services) => {
    const { store } = services;
    await requireOwners(store, organization.id, query);
    if (query.sort !== undefined) return answerArrangedKeys(organization, query, services);
    if (PLACE.test(query.after ?? "")) throw invalidField("after", AFTER_EXPECTATION);
    const { user_id: userId, group_id: groupId } = query;
    const owners = {
      ...(userId === undefined ? {} : { userId }),
      ...(groupId === undefined ? {} : { groupId }),
    };
    return answerKeys(organization.id, query, owners, store);
  },
});

const show = defineOrganizationRoute({
  method: "GET",
  path: ONE,
  operationId: "getKey",
  summary: "Show an API key with this month's spend.",
  answers: { 200: key },
  handleInOrganization: async (call, services) => answerOne(await requireKey(call, services), services),
});

const change = defineOrganizationRoute({
  method: "PATCH",
  path: ONE,
  operationId: "changeKey",
  summary: "Change the given settings, from the next request.",
  body: keyChange,
  usesIfMatch: true,
  answers: { 200: key },
  handleInOrganization: async (call, services) => {
    const { store } = services;
    requireUsableSettings(call.body, services.catalog(), await store.timeMs());
    return changeCurrent(await requireKey(call, services), call.ifMatch, async (current, expectedVersion) => {
      const changes = convertKeyChange(call.body, current);
      if (Object.keys(changes).length === 0) return answerOne(current, services);
      requireStrictCaps(call.body, current, call.organization);
      const entry = KEY_ENTRIES.updated(current, { ...current, ...changes }, call);
      const result = await withOwners(store.changeKey(referenceOf(current), changes, expectedVersion, entry));
      if (result.outcome === "version_conflict") return result;
      return answerOne(requireChanged(result).after, services);
    });
  },
});

const remove = defineOrganizationRoute({
  method: "DELETE",
  path: ONE,
  operationId: "deleteKey",
  summary: "Permanently delete an API key: requests with it return 401 at once.",
  usesIfMatch: true,
  answers: { 204: null },
  handleInOrganization: async (call, services) => {
    const current = await requireKey(call, services);
    expectVersion(call.ifMatch, current.version);
    const entry = KEY_ENTRIES.deleted(current, call);
    requireChanged(await services.store.deleteKey(referenceOf(current), entry));
    return { status: 204 };
  },
});

/** @throws AdminError 404 for a key that does not exist, was deleted, or belongs to another organization. */
export async function requireKey(
  call: Pick<OrganizationCall, "organization" | "params">,
  { store }: Pick<ApiServices, "store">,
): Promise<KeyRecord> {
  const keyId = call.params["key"] ?? "";
  const record = await store.getKey({ organizationId: call.organization.id, keyId });
  if (record === null || record.deletedAtMs !== null) throw new AdminError("key_not_found");
  return record;
}

/** @throws AdminError 404, 412. */
function requireChanged(result: ChangeResult<KeyRecord>): { before: KeyRecord; after: KeyRecord } {
  if (result.outcome === "changed") return result;
  if (result.outcome === "not_found") throw new AdminError("key_not_found");
  throw new AdminError("version_conflict", { headers: { etag: formatETag(result.current.version) } });
}

/** Reads the spend of a key in this month, and the level of its bucket. */
export async function readKeyFigures(
  record: KeyRecord,
  { store }: Pick<ApiServices, "store">,
): Promise<KeyFigures> {
  const figuresOf = await readFigures(record.organizationId, [record], store);
  return figuresOf(record);
}

async function answerKeys(
  organizationId: string,
  query: PageQuery,
  owners: { readonly userId?: string; readonly groupId?: string },
  store: ApiServices["store"],
): Promise<ApiAnswer> {
  const page = await store.listKeys(organizationId, parsePage(query), owners);
  const figuresOf = await readFigures(organizationId, page.items, store);
  return answerList(page, (item) => formatKey(item, figuresOf(item)));
}

async function answerArrangedKeys(
  organization: OrganizationRecord,
  query: KeyQuery,
  services: ApiServices,
): Promise<ApiAnswer> {
  const { keys } = await readDirectory(services, organization);
  const page = arrange(keys, query);
  const records = page.items.map(({ record }) => record);
  const figuresOf = await readFigures(organization.id, records, services.store, NO_LIMITS);
  return answerArranged(page, ({ record, state, tightest }) => ({
    ...formatKey(record, figuresOf(record)),
    state,
    tightest_limit: tightest,
  }));
}

type ReadLimits = (record: KeyRecord, owners: NamedOwners) => Promise<KeyFigures["limits"]>;

/** For rows of a list that already have their state. */
const NO_LIMITS: ReadLimits = () => Promise.resolve([]);

async function readFigures(
  organizationId: string,
  records: readonly KeyRecord[],
  store: ApiServices["store"],
  readLimits: ReadLimits = async ({ id }, { user, group }) => {
    const owners = formatOwnerIds({ userId: user?.id ?? null, groupId: group?.id ?? null });
    return (await store.readLimits(organizationId, { keyId: id, owners })).limits;
  },
): Promise<(record: KeyRecord) => KeyFigures> {
  const ids = records.map(({ id }) => id);
  const [spend, buckets, ownersOf] = await Promise.all([
    store.readSpend(organizationId, null, ids),
    store.readBuckets(organizationId, ids),
    readNamedOwners(store, organizationId, records),
  ]);
  const limits = await Promise.all(records.map((record) => readLimits(record, ownersOf(record))));
  const limitsOf = new Map(ids.map((id, position) => [id, limits[position] ?? []]));
  return (record) => {
    const unused = newFigures(record, spend.timeMs, ownersOf(record));
    const spentMicrocents = spend.keyMicrocents.get(record.id) ?? 0n;
    return {
      ...unused,
      spentMicrocents,
      limits: limitsOf.get(record.id) ?? [],
      bucket: buckets.get(record.id) ?? unused.bucket,
    };
  };
}

/** Returns the figures of a new key: no spend, full bucket. */
function newFigures(record: KeyRecord, timeMs: number, owners: NamedOwners): KeyFigures {
  const capacity = bucketCapacity(requestsPerMinuteOf(record));
  const month = monthAt(timeMs).name;
  return {
    month,
    timeMs,
    spentMicrocents: 0n,
    limits: [],
    bucket: { remaining: capacity, capacity, tokens: [], lastUsedMs: null },
    owners,
  };
}

export function referenceOf(record: KeyRecord): { organizationId: string; keyId: string } {
  return { organizationId: record.organizationId, keyId: record.id };
}

async function answerOne(record: KeyRecord, services: ApiServices): Promise<ApiAnswer> {
  return {
    status: 200,
    body: formatKey(record, await readKeyFigures(record, services)),
    headers: { etag: formatETag(record.version) },
  };
}

export {
  change as changeKeyRoute,
  create as createKeyRoute,
  list as listKeysRoute,
  remove as deleteKeyRoute,
  show as showKeyRoute,
};

export const keyRoutes = [create, list, show, change, remove];
