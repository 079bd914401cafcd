/** `…/requests`: the last requests of an organization, and why one was refused or what it cost. */
import { formatRequestStatus } from "../../../data-path/limits/request-status.ts";
import { parseOwnerIds } from "../../../data-path/store/types/owner-ids.ts";
import type { RecentRequest, RequestTimeline } from "../../../data-path/store/types/reporting.ts";
import { scrub } from "../../../shared/text/scrub.ts";
import { AdminError } from "../admin-error.ts";
import { explain } from "../explain/explanation.ts";
import { describeUpstream } from "../explain/upstream.ts";
import { explainedRequest, recentRequestPage, requestQuery } from "../schemas/requests.ts";
import { answerList, parsePage } from "./list-answer.ts";
import { readUsageNames, type UsageNames } from "./read-usage-names.ts";
import { createRequestFilter } from "./request-filter.ts";
import { defineOrganizationRoute } from "./route.ts";
import { TIMELINE } from "../../../data-path/store/requests/facts.ts";
import { mapTokens, nameTokens } from "../../../shared/usage/token-usage.ts";

const PATH = "/api/organizations/{organization}/requests";

const list = defineOrganizationRoute({
  method: "GET",
  path: PATH,
  operationId: "listRequests",
  summary: "List recent requests, newest first: about 10,000, and 2,000 rejected ones.",
  description:
    "With a filter, one call looks through 2,000 of them: a page may then hold fewer than `limit`, and have a `next` all the same.",
  query: requestQuery,
  answers: { 200: recentRequestPage },
  handleInOrganization: async ({ organization, query }, { store }) => {
    const page = await store.listRequests(organization.id, parsePage(query), createRequestFilter(query));
    const namesOf = await readUsageNames(store, organization.id, page.items);
    return answerList(page, (request) => formatRequest(request, organization.id, namesOf(request)));
  },
});

const show = defineOrganizationRoute({
  method: "GET",
  path: `${PATH}/{request}`,
  operationId: "getRequest",
  summary: "Show a recent request with checks, cost and explanation.",
  answers: { 200: explainedRequest },
  handleInOrganization: async ({ organization, params }, { store, dashboardUrl = null }) => {
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
    const request = {
      ...formatRequest(found, organization.id, names),
      key_deleted: key === null || key.deletedAtMs !== null,
      user_deleted: userId !== null && user?.deletedAtMs !== null,
      group_deleted: groupId !== null && group?.deletedAtMs !== null,
    };
    return {
      status: 200,
      body: { ...request, explanation: explain(request, organization.currency, dashboardUrl) },
    };
  },
});

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

/** What a client wrote as its model or path may be its key, and whoever may look here is not to have that. */
function formatRequest(request: RecentRequest, organizationId: string, names: UsageNames) {
  const { userId, groupId } = parseOwnerIds(request.owners);
  const { route, model, ...status } = formatRequestStatus(request);
  const { timeline, upstream } = request.way;
  return {
    ...status,
    route: scrub(route),
    model: model === null ? null : scrub(model),
    recorded_at: new Date(request.recordedAtMs).toISOString(),
    organization_id: organizationId,
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
    upstream: upstream === null ? null : describeUpstream(upstream),
  };
}

export { list as listRequestsRoute };

export const requestRoutes = [list, show];
