/** `…/requests`: the last requests of an organization, and why one was refused or what it cost. */
import { formatRequestStatus } from "../../limits/request-status.ts";
import type { RecentRequest } from "../../store/types/reporting.ts";
import { scrub } from "../../scrub.ts";
import { AdminError } from "../admin-error.ts";
import { pageQuery } from "../schemas/page.ts";
import { recentRequest, recentRequestPage, REQUEST_CURSOR } from "../schemas/requests.ts";
import { answerList, parsePage } from "./list-answer.ts";
import { defineOrganizationRoute } from "./route.ts";

const PATH = "/api/organizations/{organization}/requests";
const TAG = "Requests";

const list = defineOrganizationRoute(
  {
    method: "GET",
    path: PATH,
    operationId: "listRequests",
    tag: TAG,
    summary:
      "The last requests, newest first; about 10,000 that were admitted are kept and 2,000 that were refused.",
    access: "read",
    query: pageQuery(REQUEST_CURSOR),
    body: null,
    answers: { 200: recentRequestPage },
  },
  async ({ organization, query }, { store }) =>
    answerList(await store.listRequests(organization.id, parsePage(query)), formatRequest),
);

const show = defineOrganizationRoute(
  {
    method: "GET",
    path: `${PATH}/{request}`,
    operationId: "getRequest",
    tag: TAG,
    summary: "One of the last requests: every check with its figures, tokens, cost.",
    access: "read",
    query: null,
    body: null,
    answers: { 200: recentRequest },
  },
  async ({ organization, params }, { store }) => {
    const found = await store.findRequest(organization.id, params["request"] ?? "", null);
    if (found === null) throw new AdminError("request_not_found");
    return { status: 200, body: formatRequest(found) };
  },
);

/** What a client wrote as its model or path may be its key, and whoever may look here is not to have that. */
function formatRequest(request: RecentRequest) {
  const { route, model, ...status } = formatRequestStatus(request);
  return {
    ...status,
    route: scrub(route),
    model: model === null ? null : scrub(model),
    recorded_at: new Date(request.recordedAtMs).toISOString(),
    key_id: request.keyId,
    reasoning_tokens: request.reasoningTokens,
  };
}

export const requestRoutes = [list, show];
