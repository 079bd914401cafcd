/**
 * `…/me`: calls for a person who signed in with an identity provider and is a user of the organization. The
 * user comes from the session, never from input. A member cannot change limits of a user, a group or the
 * organization here, nor make or change a key so that it exceeds the organization's defaults for new keys and
 * the user's caps.
 */
import type { z } from "zod";
import { createKeySettings } from "./key-settings.ts";
import { type Handle, ofOwn, ofOwnKey, ofOwnLimits, ofOwnRequest, requireSelf } from "./own-scope.ts";
import { formatCents } from "../../../shared/money/money.ts";
import {
  DEFAULT_REQUESTS_PER_MINUTE,
  KEY_SETTINGS,
  type KeySettings,
  REQUEST_RATE,
  requestsPerMinuteOf,
} from "../../../shared/settings/key.ts";
import { limitsOfMember } from "../../../shared/settings/limit-settings.ts";
import { type Limit, LIMIT_PERIODS, type LimitPeriod } from "../../../shared/settings/limits.ts";
import { isProviderKey, type KeyRecord, type OrganizationRecord } from "../../../shared/stored/management.ts";
import type { UserRecord } from "../../../shared/stored/owners.ts";
import type { Page } from "../../../shared/stored/page.ts";
import { readKeyStatus } from "../../../data-path/limits/reports/read-key-status.ts";
import { formatOwnerIds } from "../../../shared/stored/owner-ids.ts";
import { AdminError, invalidField } from "../admin-error.ts";
import { MinuteLimit } from "../minute-limit.ts";
import { ownLimitList } from "../schemas/limit.ts";
import {
  ownKeyChange,
  ownKeyCreation,
  ownKeyQuery,
  ownExplainedRequestQuery,
  ownRequestFilter,
  ownRequestQuery,
  ownUsageQuery,
  ownKeyStatus,
  ownUser,
} from "../schemas/own.ts";
import { KEY_ENTRIES } from "./format-key.ts";
import { rotateKeyRoute } from "./key-secrets.ts";
import {
  changeKeyRoute,
  createKeyRoute,
  deleteKeyRoute,
  listKeysRoute,
  referenceOf,
  requireKey,
  showKeyRoute,
} from "./keys.ts";
import { listUserLimitsRoute } from "./limits.ts";
import { formatReference, readNamedOwners } from "./names.ts";
import { countRequestsRoute } from "./request-counts.ts";
import { listRequestsRoute, showRequestRoute } from "./requests.ts";
import {
  type ApiServices,
  defineOrganizationRoute,
  type OrganizationCall,
  type OrganizationRoute,
  type RouteDescription,
} from "./route.ts";
import { showUsageRoute } from "./usage.ts";

const ME = "/api/organizations/{organization}/me";
const KEYS = `${ME}/keys`;
const ONE = `${KEYS}/{key}`;

const show = defineOrganizationRoute({
  method: "GET",
  path: ME,
  operationId: "getOwnUser",
  summary: "Show who you are in this organization.",
  member: true,
  answers: { 200: ownUser },
  handleInOrganization: async (call, services) => {
    const { organization } = call;
    const user = await requireSelf(call, services);
    const [ownersOf, keys] = await Promise.all([
      readNamedOwners(services.store, organization.id, [user]),
      listCounted(organization, user, services),
    ]);
    const { id, name, currency, maxOwnKeys } = organization;
    const body = {
      id: user.id,
      name: user.name,
      email: user.email,
      group: formatReference(ownersOf(user).group),
      organization: { id, name, currency },
      key_count: keys.length,
      most_keys: maxOwnKeys,
    };
    return { status: 200, body };
  },
});

/** By user, in this process: deleted keys leave records and usage rows. */
const newKeys = new MinuteLimit(30);

/** Creates a key within the caller's bounds. */
function withinBounds(handle: Handle): Handle {
  return async (call, services) => {
    const { organization } = call;
    const wanted = call.body as z.output<typeof ownKeyCreation>;
    const user = await requireSelf(call, services);
    const settings = createKeySettings(wanted, organization.keyDefaults);
    requireTight(settings, await boundsOf(organization, user, services));
    const counted = await listCounted(organization, user, services);
    if (counted.length >= organization.maxOwnKeys) throw refuseMoreKeys(organization.maxOwnKeys);
    newKeys.take(user.id, Date.now(), "too_many_new_keys");
    const body = { ...wanted, [KEY_SETTINGS.userId.apiName]: user.id };
    const answer = await handle({ ...call, body }, services);
    await enforceMaximum(call, user, (answer.body as { readonly id: string }).id, services);
    return answer;
  };
}

/**
 * Creates the same route below `…/me`: same method, responses and handler, restricted to the caller. `key`: the holder of
 * an API key may read it as well; everything else needs a person.
 */
function ownRoute<Route extends OrganizationRoute, const Path extends string>(
  route: Route,
  scope: (handle: Handle) => Handle,
  own: Pick<RouteDescription, "operationId" | "summary" | "query" | "body" | "key"> & { readonly path: Path },
) {
  const { description: _description, otherMediaType: _media, ...shared }: OrganizationRoute = route;
  return {
    ...shared,
    ...own,
    method: route.method as Route["method"],
    answers: route.answers as Route["answers"],
    member: true as const,
    handleInOrganization: scope(route.handleInOrganization),
  };
}

const limits = {
  ...ownRoute(listUserLimitsRoute, ofOwnLimits, {
    path: `${ME}/limits`,
    operationId: "listOwnLimits",
    summary: "List your limits with their spend.",
  }),
  answers: { 200: ownLimitList },
} as const;

const list = ownRoute(listKeysRoute, ofOwn, {
  path: KEYS,
  operationId: "listOwnKeys",
  summary: "List your API keys, in the order of their creation.",
  query: ownKeyQuery,
});

const create = ownRoute(createKeyRoute, withinBounds, {
  path: KEYS,
  operationId: "createOwnKey",
  summary: "Create an API key of yours, within the organization's defaults. `key` is shown only once.",
  body: ownKeyCreation,
});

const showOne = ownRoute(showKeyRoute, ofOwnKey, {
  path: ONE,
  operationId: "getOwnKey",
  key: true,
  summary: "Show an API key of yours.",
});

const change = ownRoute(changeKeyRoute, ofOwnKey, {
  path: ONE,
  operationId: "changeOwnKey",
  summary: "Change name or note of an API key of yours, or disable it.",
  body: ownKeyChange,
});

const rotate = ownRoute(rotateKeyRoute, ofOwnKey, {
  path: `${ONE}/rotate`,
  operationId: "rotateOwnKey",
  summary: "Give an API key of yours a new secret. `key` in the response is shown only once.",
});

const remove = ownRoute(deleteKeyRoute, ofOwnKey, {
  path: ONE,
  operationId: "deleteOwnKey",
  summary: "Permanently delete an API key of yours.",
});

const showUsage = ownRoute(showUsageRoute, ofOwn, {
  path: `${ME}/usage`,
  operationId: "getOwnUsage",
  key: true,
  summary: "Show what your requests of a month used and cost.",
  query: ownUsageQuery,
});

const listRequests = ownRoute(listRequestsRoute, ofOwn, {
  path: `${ME}/requests`,
  operationId: "listOwnRequests",
  key: true,
  summary: "List your recent requests, newest first.",
  query: ownRequestQuery,
});

const countRequests = ownRoute(countRequestsRoute, ofOwn, {
  path: `${ME}/request-counts`,
  operationId: "countOwnRequests",
  key: true,
  summary: "Count your recent requests over time and by filter.",
  query: ownRequestFilter,
});

const showRequest = ownRoute(showRequestRoute, (handle) => ofOwn(ofOwnRequest(handle)), {
  path: `${ME}/requests/{request}`,
  operationId: "getOwnRequest",
  key: true,
  query: ownExplainedRequestQuery,
  summary: "Show a recent request of yours with checks, cost and explanation.",
});

const showStatus = defineOrganizationRoute({
  method: "GET",
  path: `${ONE}/status`,
  operationId: "getOwnKeyStatus",
  summary: "Show what `GET /v1/key` shows to an API key of yours: limits, headroom, what blocks it.",
  member: true,
  key: true,
  answers: { 200: ownKeyStatus },
  handleInOrganization: ofOwnKey(async (call, { store }) => {
    const { organization } = call;
    const record = await requireKey(call, { store });
    const [ownersOf, buckets] = await Promise.all([
      readNamedOwners(store, organization.id, [record]),
      store.readBuckets(organization.id, [record.id]),
    ]);
    const { user, group } = ownersOf(record);
    const owners = formatOwnerIds({ userId: user?.id ?? null, groupId: group?.id ?? null });
    const { remaining = 0, capacity = 1 } = buckets.get(record.id) ?? {};
    const rate = { remainingRequests: remaining, burst: capacity };
    const body = await readKeyStatus(
      store,
      { organizationId: organization.id, keyId: record.id, owners },
      rate,
    );
    if (body === null) throw new AdminError("key_not_found");
    return { status: 200, body };
  }),
});

interface Bounds {
  /** Lowest cap of each period: of the user, or of members of its group or organization. */
  readonly user: ReadonlyMap<LimitPeriod, number>;
  /** Caps of new keys. */
  readonly defaults: ReadonlyMap<LimitPeriod, number>;
  readonly perMinute: number;
}

async function boundsOf(
  organization: OrganizationRecord,
  user: UserRecord,
  { store }: Pick<ApiServices, "store">,
): Promise<Bounds> {
  const ownersOf = await readNamedOwners(store, organization.id, [user]);
  const members = limitsOfMember(user, ownersOf(user).group ?? organization);
  const { keyDefaults } = organization;
  return {
    // A user's own limit takes precedence over those of members.
    user: capsOf(members.toReversed()),
    defaults: capsOf(keyDefaults.limits),
    perMinute: requestsPerMinuteOf(keyDefaults) ?? DEFAULT_REQUESTS_PER_MINUTE,
  };
}

function capsOf(rows: readonly Limit[]): Map<LimitPeriod, number> {
  return new Map(rows.filter(({ kind }) => kind === "cap").map(({ period, cents }) => [period, cents]));
}

/** @throws AdminError 400 for a key with looser limits than its user, or than a new key. */
function requireTight(settings: KeySettings, bounds: Bounds): void {
  const caps = capsOf(settings.limits);
  for (const period of LIMIT_PERIODS) {
    const [cap, ofDefaults, ofUser] = [caps, bounds.defaults, bounds.user].map((of) => of.get(period));
    const field = KEY_SETTINGS.limits.apiName;
    if (ofDefaults !== undefined && (cap === undefined || cap > ofDefaults)) {
      throw invalidField(
        field,
        `expected a ${period} cap of at most ${amountOf(ofDefaults)}, the default for new keys`,
      );
    }
    // Defaults of new keys may exceed it: the user's own cap still applies.
    if (cap !== undefined && ofUser !== undefined && cap > ofUser && cap !== ofDefaults) {
      throw invalidField(field, `expected a ${period} cap of at most ${amountOf(ofUser)}, which is your own`);
    }
  }
  const { perMinute } = bounds;
  if (requestsPerMinuteOf(settings) <= perMinute) return;
  throw invalidField(REQUEST_RATE.apiName, `expected at most ${perMinute}, the default for new keys`);
}

function amountOf(cents: number): string {
  return formatCents(cents, "").trim();
}

const KEYS_AT_ONCE = 100;

/**
 * Lists the oldest keys of a user, at least one more than allowed if there are as many: all keys with a
 * secret, also those created by administrators. The key for a provider's tokens is created by the first
 * request, and does not count.
 */
async function listCounted(
  { id, maxOwnKeys }: OrganizationRecord,
  user: UserRecord,
  { store }: Pick<ApiServices, "store">,
): Promise<readonly KeyRecord[]> {
  const counted: KeyRecord[] = [];
  let after: string | null = null;
  do {
    const page: Page<KeyRecord> = await store.listKeys(
      id,
      { limit: KEYS_AT_ONCE, after },
      { userId: user.id },
    );
    counted.push(...page.items.filter((one) => !isProviderKey(one)));
    after = page.next;
  } while (after !== null && counted.length <= maxOwnKeys);
  return counted;
}

/** Deletes the newest keys above the limit, after concurrent calls: their secrets were not sent yet. */
async function enforceMaximum(
  call: OrganizationCall,
  user: UserRecord,
  keyId: string,
  services: Pick<ApiServices, "store">,
): Promise<void> {
  const { store } = services;
  const { id, maxOwnKeys } = call.organization;
  const first = (await listCounted(call.organization, user, services)).slice(0, maxOwnKeys);
  if (first.some((one) => one.id === keyId)) return;
  const record = await store.getKey({ organizationId: id, keyId });
  if (record === null) throw new AdminError("key_not_found");
  await store.deleteKey(referenceOf(record), KEY_ENTRIES.deleted(record, call));
  throw refuseMoreKeys(maxOwnKeys);
}

function refuseMoreKeys(most: number): AdminError {
  const message = `You have ${most} API keys, the maximum. Delete one that you no longer need.`;
  return new AdminError("organization_full", { message });
}

export const ownRoutes = [
  show,
  limits,
  list,
  create,
  showOne,
  change,
  rotate,
  showStatus,
  remove,
  showUsage,
  countRequests,
  listRequests,
  showRequest,
];
