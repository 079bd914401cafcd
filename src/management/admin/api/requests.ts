/** `…/requests`: recent requests of an organization, with the reason of a rejection or the cost. */
import { formatRequestStatus, withoutAmounts } from "../../../data-path/limits/reports/request-status.ts";
import { parseOwnerIds } from "../../../shared/stored/owner-ids.ts";
import type { RecentRequest, RequestFilter, RequestTimeline } from "../../../shared/stored/reporting.ts";
import type { Store } from "../../../shared/stored/store.ts";
import { scrub } from "../../../shared/text/scrub.ts";
import type { OrganizationRecord } from "../../../shared/stored/management.ts";
import { AdminError } from "../admin-error.ts";
import { explain } from "../explain/explanation.ts";
import { describeUpstream } from "../explain/explained-request.ts";
import {
  explainedRequest,
  explainedRequestQuery,
  recentRequestPage,
  type RequestFilterQuery,
  requestQuery,
} from "../schemas/requests.ts";
import { answerList, parsePage } from "./answers.ts";
import { readUsageNames, type UsageNames } from "./names.ts";
import { isOnlyOwn, type Principal } from "../principal.ts";
import { defineOrganizationRoute } from "./route.ts";
import { TIMELINE } from "../../../data-path/store/requests/facts.ts";
import { mapTokens, nameTokens } from "../../../shared/usage/token-usage.ts";
import { hasTags, parseTagList } from "../../../shared/usage/tags.ts";
import { clientOutcomeOf } from "../../../data-path/limits/reports/client-outcome.ts";
import { CLOCK_SKEW_MS, timeOfId } from "../../../data-path/store/ids.ts";

const PATH = "/api/organizations/{organization}/requests";

const list = defineOrganizationRoute({
  method: "GET",
  path: PATH,
  operationId: "listRequests",
  summary: "List recent requests, newest first: about 10,000, and 2,000 rejected ones.",
  description:
    "With a filter, one call searches 2,000 of them, so a page can have fewer than `limit` entries and a `next`.",
  query: requestQuery,
  answers: { 200: recentRequestPage },
  handleInOrganization: async ({ organization, query, principal }, { store }) => {
    const page = await store.listRequests(organization.id, parsePage(query), createRequestFilter(query));
    const namesOf = await readUsageNames(store, organization.id, page.items);
    const isHidden = hidesAmounts(organization, principal);
    return answerList(page, (request) => {
      const formatted = formatRequest(request, organization, namesOf(request));
      const shown = isOnlyOwn(principal) ? withoutDetails(withoutServersText(formatted)) : formatted;
      return isHidden ? withoutAmounts(shown) : shown;
    });
  },
});

const show = defineOrganizationRoute({
  method: "GET",
  path: `${PATH}/{request}`,
  operationId: "getRequest",
  summary: "Show a recent request with checks, cost and explanation.",
  query: explainedRequestQuery,
  answers: { 200: explainedRequest },
  handleInOrganization: async (
    { organization, params, query, principal },
    { store, dashboardUrl = null },
  ) => {
    const found = await store.findRequest(organization.id, params["request"] ?? "", null);
    if (found === null) throw new AdminError("request_not_found");
    const { userId, groupId } = parseOwnerIds(found.owners);
    const [key, user, group] = await Promise.all([
      store.getKey({ organizationId: organization.id, keyId: found.keyId }),
      userId === null ? null : store.getUser(organization.id, userId),
      groupId === null ? null : store.getGroup(organization.id, groupId),
    ]);
    const names = {
      keyName: key?.name ?? null,
      userName: user?.name ?? null,
      groupName: group?.name ?? null,
    };
    const all = formatRequest(found, organization, names);
    const isOwn = isOnlyOwn(principal);
    const formatted = isOwn ? withoutServersText(all) : all;
    const request = {
      ...(hidesAmounts(organization, principal) ? withoutAmounts(formatted) : formatted),
      key_deleted: key === null || key.deletedAtMs !== null,
      user_deleted: userId !== null && user?.deletedAtMs !== null,
      group_deleted: groupId !== null && group?.deletedAtMs !== null,
    };
    const explanation = explain(request, organization.currency, dashboardUrl);
    const neighbors =
      query.neighbors === "true"
        ? { neighbors: await findNeighbors(store, organization.id, found, query) }
        : {};
    return {
      status: 200,
      body: { ...(isOwn ? withoutDetails(request) : request), ...neighbors, explanation },
    };
  },
});

const LARGEST_SEQUENCE = "18446744073709551615";

/** Finds the requests before and after one in the list with the same filters. */
async function findNeighbors(
  store: Pick<Store, "listRequests">,
  organizationId: string,
  { requestId, recordedAtMs }: RecentRequest,
  query: RequestFilterQuery,
) {
  const isWanted = createRequestFilter(query)?.matches ?? (() => true);
  const findNext = async (isOldestFirst: boolean): Promise<string | null> => {
    let isPast = false;
    const matches = (request: RecentRequest): boolean => {
      if (isPast) return isWanted(request);
      isPast = request.requestId === requestId;
      return false;
    };
    const end = `${recordedAtMs}-${LARGEST_SEQUENCE}`;
    const page = { limit: 1, after: isOldestFirst ? null : `${end}_${end}` };
    const filter = { fromMs: isOldestFirst ? recordedAtMs : null, isOldestFirst, matches };
    const { items } = await store.listRequests(organizationId, page, filter);
    return items[0]?.requestId ?? null;
  };
  const [newer, older] = await Promise.all([findNext(true), findNext(false)]);
  return { newer, older };
}

/** Members and holders of API keys see what clients see. */
function hidesAmounts({ hideAmounts }: OrganizationRecord, principal: Principal): boolean {
  return hideAmounts && isOnlyOwn(principal);
}

type WithUpstream = Pick<ReturnType<typeof formatRequest>, "upstream">;

/** Removes what the model server said, which may name the operator's account. The gateway's own words for Envoy's reason stay. */
function withoutServersText<Request extends WithUpstream>(request: Request): Request {
  const { upstream } = request;
  if (upstream === null || upstream.envoy_details !== null) return request;
  return { ...request, upstream: { ...upstream, cause: null } };
}

function withoutDetails<Request extends WithUpstream>(request: Request): Request {
  const { upstream } = request;
  return upstream === null ? request : { ...request, upstream: { ...upstream, envoy_details: null } };
}

type NamedTimeline = {
  [Name in keyof RequestTimeline as (typeof TIMELINE)[Name]["apiName"]]: RequestTimeline[Name];
};

function formatTimeline(timeline: RequestTimeline): NamedTimeline {
  const moments = Object.entries(TIMELINE).map(([name, { apiName }]) => [
    apiName,
    timeline[name as keyof RequestTimeline],
  ]);
  return Object.fromEntries(moments) as NamedTimeline;
}

/** Removes credentials: a client may have sent its key as model or path, which readers of the list must not see. */
function formatRequest(request: RecentRequest, { id, currency }: OrganizationRecord, names: UsageNames) {
  const { userId, groupId } = parseOwnerIds(request.owners);
  const { route, model, ...status } = formatRequestStatus(request);
  const { timeline, upstream, pinnedBy = null } = request.trace;
  return {
    ...status,
    route: scrub(route),
    model: model === null ? null : scrub(model),
    recorded_at: new Date(request.recordedAtMs).toISOString(),
    organization_id: id,
    currency,
    key_id: request.keyId,
    key_name: names.keyName,
    user_id: userId,
    user_name: names.userName,
    group_id: groupId,
    group_name: names.groupName,
    ...nameTokens(mapTokens((kind) => request[kind])),
    duration_ms: timeline?.endMs ?? null,
    first_token_ms: timeline?.firstTokenMs ?? null,
    timeline: timeline === null ? null : formatTimeline(timeline),
    pinned_by: pinnedBy,
    upstream: upstream === null ? null : describeUpstream(upstream),
  };
}

export { list as listRequestsRoute, show as showRequestRoute };

export const requestRoutes = [list, show];

type Match = (request: RecentRequest) => boolean;

/** Converts a query to a filter; null: everything. */
export function createRequestFilter(query: RequestFilterQuery): RequestFilter | null {
  const {
    key_id: keyId,
    user_id: userId,
    group_id: groupId,
    model,
    upstream,
    status,
    tag,
    session,
    from,
    to,
    id,
  } = query;
  const matches: Match[] = [];
  if (keyId !== undefined) matches.push((request) => request.keyId === keyId);
  if (userId !== undefined) matches.push(({ owners }) => parseOwnerIds(owners).userId === userId);
  if (groupId !== undefined) matches.push(({ owners }) => parseOwnerIds(owners).groupId === groupId);
  if (model !== undefined) matches.push((request) => request.model === model);
  if (upstream !== undefined) matches.push((request) => request.trace.upstream?.name === upstream);
  const tags = tag === undefined ? null : parseTagList(tag);
  if (tags !== null && "tags" in tags) matches.push((request) => hasTags(request.tags, tags.tags));
  if (session !== undefined) matches.push((request) => request.session === session);
  if (id !== undefined) matches.push((request) => request.requestId.includes(id));
  if (from !== undefined) matches.push((request) => (timeOfId(request.requestId) ?? 0) >= from);
  if (to !== undefined) matches.push((request) => (timeOfId(request.requestId) ?? 0) < to);
  if (status !== undefined) matches.push(matchStatus(status));
  if (matches.length === 0) return null;
  return {
    // A request that arrived then ended later.
    fromMs: from === undefined ? null : Math.max(0, from - CLOCK_SKEW_MS),
    keyId,
    matches: (request) => matches.every((match) => match(request)),
  };
}

/** @param wanted "402", "4xx" or an error code. */
function matchStatus(wanted: string): Match {
  if (/^\d{3}$/.test(wanted)) return (request) => String(clientOutcomeOf(request).status) === wanted;
  if (/^\dxx$/.test(wanted)) return (request) => String(clientOutcomeOf(request).status)[0] === wanted[0];
  return (request) => clientOutcomeOf(request).errorCode === wanted;
}
