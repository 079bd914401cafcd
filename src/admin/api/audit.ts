/** `GET …/audit`: who changed what, when, from what to what. */
import { AUDIT_CURSOR, auditPage } from "../schemas/audit-entry.ts";
import { isInStreams, pageQuery } from "../schemas/page.ts";
import { answerList, parsePage } from "./list-answer.ts";
import { defineOrganizationRoute } from "./route.ts";

const list = defineOrganizationRoute({
  method: "GET",
  path: "/api/organizations/{organization}/audit",
  operationId: "listAuditEntries",
  summary:
    "Every change of the organization, its keys, users, groups and tokens, newest first; about 10,000 are kept.",
  query: pageQuery(AUDIT_CURSOR, isInStreams),
  answers: { 200: auditPage },
  handleInOrganization: async ({ organization, query }, { store }) =>
    answerList(await store.listAuditEntries(organization.id, parsePage(query)), (entry) => ({
      id: entry.id,
      at: new Date(entry.recordedAtMs).toISOString(),
      actor: entry.actor,
      action: entry.action,
      target: entry.target,
      before: entry.before,
      after: entry.after,
      request_id: entry.requestId,
    })),
});

export const auditRoutes = [list];
